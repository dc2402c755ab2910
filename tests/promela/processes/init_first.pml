// expect: states=22 transitions=39 errors=none
// spin-default: states=22
/* init declared before the active processes: it has pid 0. */
byte a, b;
init { b = _pid; assert(b == 0) }
active [2] proctype P() { a = a + _pid + 1 }
