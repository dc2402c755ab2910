init {
L:	byte x;
	x = 1
}
