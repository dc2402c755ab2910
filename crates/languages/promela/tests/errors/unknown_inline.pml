init {
	start(1)
}
