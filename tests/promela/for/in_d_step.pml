// expect: states=4 transitions=3 errors=none
// spin-default: states=4
/* A for loop inside a deterministic step. */
byte a[5];
active proctype P() { d_step { byte i; for (i : 0 .. 4) { a[i] = i * i } }; assert(a[4] == 16) }
