// expect: states=3 transitions=2 errors=assertion
// spin-default: states=3
/* An assertion that fails inside. */
byte x;
active proctype P() { d_step { x = 1; assert(x == 2); x = 3 } }
