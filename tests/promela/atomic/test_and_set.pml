// expect: states=27 transitions=32 errors=none
// spin-default: states=27
/* An atomic test and set gives mutual exclusion. */
bit lock; byte n;
active [2] proctype P() { atomic { !lock -> lock = 1 }; n++; assert(n == 1); n--; lock = 0 }
