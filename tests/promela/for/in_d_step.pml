// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* A for loop inside a deterministic step. */
byte a[5];
active proctype P() { d_step { byte i; for (i : 0 .. 4) { a[i] = i * i } }; assert(a[4] == 16) }
