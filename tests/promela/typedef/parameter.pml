// quotient: --raw --all --safety => holds, states 79, transitions 143
// quotient: --all --safety => holds, at most 63 states
/* A structure as a parameter is passed by its fields; the process has a copy. */
typedef Pair { byte a; short b }
byte got;
proctype P(byte k; Pair x; byte z) { x.a++; got = x.a + k + z; assert(x.b == 300) }
init {
	Pair t;
	t.a = 1;
	t.b = 300;
	run P(9, t, 7);
	t.a = 50;
	run P(0, t, 0);
	assert(t.a == 50)
}
