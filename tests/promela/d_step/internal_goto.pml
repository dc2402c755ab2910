// expect: states=4 transitions=3 errors=none
// spin-default: states=4
/* A jump inside a deterministic step. */
byte x;
active proctype P() { d_step { skip; l: x++; if :: x < 3 -> goto l :: else -> skip fi; x = x + 10 }; assert(x == 13) }
