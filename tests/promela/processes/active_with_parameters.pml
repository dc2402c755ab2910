// expect: states=4 transitions=3 errors=none
// spin-default: states=3
/* Parameters of an active proctype start at zero. */
active proctype P(byte v) { assert(v == 0); v = 2 }
