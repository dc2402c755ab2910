// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* true and false are 1 and 0; a bool holds one bit. */
bool p, q = true;
active proctype P() { p = true; q = false; assert(p == 1 && q == 0); p = p + 1; assert(!p) }
