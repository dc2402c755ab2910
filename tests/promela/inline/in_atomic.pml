// expect: states=13 transitions=18 errors=none
// spin-default: states=13
/* An inline as the body of an atomic sequence. */
byte x;
inline work(d) { x = x + d; x = x - d }
active [2] proctype P() { atomic { work(3) }; assert(x == 0) }
