// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* The narrowest unsigned is a bit. */
unsigned u : 1;
active proctype P() { u = 1; u++; assert(u == 0); u = u + 3; assert(u == 1) }
