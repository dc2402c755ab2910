byte x;
init {
	do
		x = 1
	od;
	x = 2
}
