// expect: states=15 transitions=24 errors=none
// spin-default: states=15
/* init before the active proctypes. */
byte a, b;
init { b = _pid }
active [2] proctype P() { a = a + _pid }
