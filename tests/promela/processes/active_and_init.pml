// expect: states=19 transitions=32 errors=none
// spin-default: states=19
/* init declared after two active processes: it has pid 2. */
byte a, b;
active [2] proctype P() { a = a + _pid + 1 }
init { b = _pid; assert(b == 2) }
