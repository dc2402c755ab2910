byte x;
inline f(a, b) { x = a + b }
init {
	f(1);
	f(1, 2, 3);
	f(1, );
	f(1, 2)
}
