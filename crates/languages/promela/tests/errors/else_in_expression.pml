byte x;
init {
	x = else
}
