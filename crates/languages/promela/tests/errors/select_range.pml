byte x;
init {
	select (x, 1 .. 3);
	select (x : 1 to 3)
}
