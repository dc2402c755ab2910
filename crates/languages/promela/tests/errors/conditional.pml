byte x, y;
init {
	x = (y > 1 -> 2);
	x = y > 1 -> 2 : 3;
	x = (y ? 1 : 2)
}
