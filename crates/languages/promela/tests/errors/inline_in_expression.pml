byte x;
inline f(a) { return a }
init {
	x = 1 + f(2);
	f(2)
}
