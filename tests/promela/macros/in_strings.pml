// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* Names inside strings and comments are left alone. */
#define X 5
byte v;
active proctype P() { printf("X is not replaced: %d\n", X); /* X */ v = X // X again
	; assert(v == 5) }
