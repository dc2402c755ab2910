// expect: states=2 transitions=1 errors=deadlock
// spin-default: states=2
/* false is never executable. */
active proctype P() { skip; false; assert(false) }
