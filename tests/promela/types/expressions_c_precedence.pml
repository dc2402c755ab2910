// quotient: --raw --all --safety => holds, states 16, transitions 15
// quotient: --all --safety => holds, at most 15 states
/* Operators bind as in C. */
int r;
active proctype P() {
	r = 2 + 3 * 4; assert(r == 14);
	r = (2 + 3) * 4; assert(r == 20);
	r = 7 / 2; assert(r == 3);
	r = 7 % 4 + 1; assert(r == 4);
	r = 1 << 3 | 1; assert(r == 9);
	r = 6 & 3 ^ 1; assert(r == 3);
	assert((1 < 2) == (3 > 2));
	assert(!(1 && 0) || 0)
}
