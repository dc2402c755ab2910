byte x;
init {
	do
	::
	:: x == 1 -> break
	od
}
