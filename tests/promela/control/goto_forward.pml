// expect: states=4 transitions=3 errors=none
// spin-default: states=4
/* A jump over statements. */
byte x;
active proctype P() { x = 1; goto out; x = 2; out: assert(x == 1) }
