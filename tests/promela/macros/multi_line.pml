// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* A macro continued over lines. */
#define STEP(v) \
	v = v + 1; \
	v = v * 2
byte x;
active proctype P() { STEP(x); STEP(x); assert(x == 6) }
