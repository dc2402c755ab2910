// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* A pid variable wraps like a byte. */
pid p;
active proctype P() { p = 255; p++; assert(p == 0); p = _pid; assert(p == 0) }
