// expect: states=19 transitions=28 errors=none
// spin-default: states=19
/* Instances started at run time and active ones of the same proctype. */
byte n;
active proctype P() { byte own = _pid; n++; assert(own == _pid) }
init { run P() }
