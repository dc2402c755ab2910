char c;
long l;
init {
	void x;
	string s = 1;
	skip
}
