// expect: states=15 transitions=24 errors=none
// spin-default: states=15
/* Active processes get their pids before init or after it by position in the file. */
byte a, b;
active [2] proctype P() { a = a + _pid }
init { b = _pid }
