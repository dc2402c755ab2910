// expect: states=9 transitions=8 errors=none
// spin-default: states=9
/* unsigned x : 3 counts modulo 8. */
unsigned u : 3 = 6;
active proctype P() { u++; u++; assert(u == 0); u--; assert(u == 7); u = 12; assert(u == 4) }
