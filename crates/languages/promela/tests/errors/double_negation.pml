bool b;
init {
	!!b
}
