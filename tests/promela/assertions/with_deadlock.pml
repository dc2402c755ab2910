// expect: states=3 transitions=2 errors=assertion,deadlock
// spin-default: states=3
/* An assertion violation and an invalid end state in one model. */
byte x;
active proctype P() { x = 1; assert(x == 0); (x == 2) }
