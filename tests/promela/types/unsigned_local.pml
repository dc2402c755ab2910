// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 3 states
/* Unsigned fields beside each other do not disturb each other. */
active proctype P() {
	unsigned a : 2 = 3;
	unsigned b : 5 = 31;
	a++; assert(b == 31); b++; assert(a == 0 && b == 0); a--; assert(a == 3 && b == 0)
}
