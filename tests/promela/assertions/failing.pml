// expect: states=13 transitions=18 errors=assertion
// spin-default: states=13
/* An assertion that fails on some interleavings. */
byte x;
active [2] proctype P() { x++; assert(x == 1) }
