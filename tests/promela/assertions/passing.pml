// expect: states=13 transitions=18 errors=none
// spin-default: states=13
/* An assertion that always holds. */
byte x;
active [2] proctype P() { x++; assert(x >= 1 && x <= 2) }
