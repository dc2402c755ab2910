// expect: states=8 transitions=7 errors=none
// spin-default: states=3
/* Unsigned fields beside each other do not disturb each other. */
active proctype P() {
	unsigned a : 2 = 3;
	unsigned b : 5 = 31;
	a++; assert(b == 31); b++; assert(a == 0 && b == 0); a--; assert(a == 3 && b == 0)
}
