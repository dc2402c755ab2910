byte x;
inline f(a) {
	x = a;
	x = = 1
}
init {
	f(1);
	f(2)
}
