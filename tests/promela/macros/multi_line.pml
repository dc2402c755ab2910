// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* A macro continued over lines. */
#define STEP(v) \
	v = v + 1; \
	v = v * 2
byte x;
active proctype P() { STEP(x); STEP(x); assert(x == 6) }
