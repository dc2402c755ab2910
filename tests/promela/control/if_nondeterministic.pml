// expect: states=10 transitions=9 errors=none
// spin-default: states=10
/* All executable options of an if are explored. */
byte x;
active proctype P() { if :: x = 1 :: x = 2 :: x = 3 fi; assert(x > 0) }
