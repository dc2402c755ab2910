byte c;
init {
	STDIN?c
}
