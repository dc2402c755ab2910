// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* A timeout as the escape from a blocked sequence. */
byte x;
active proctype P() { { x = 1; (x == 7) } unless { timeout -> x = 2 }; assert(x == 2) }
