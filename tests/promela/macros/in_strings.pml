// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* Names inside strings and comments are left alone. */
#define X 5
byte v;
active proctype P() { printf("X is not replaced: %d\n", X); /* X */ v = X // X again
	; assert(v == 5) }
