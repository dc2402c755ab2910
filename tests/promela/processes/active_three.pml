// expect: states=15 transitions=24 errors=none
// spin-default: states=15
/* Three instances with pids 0, 1, 2. */
byte mask;
active [3] proctype P() { mask = mask | (1 << _pid) }
