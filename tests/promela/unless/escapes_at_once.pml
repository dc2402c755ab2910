// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* An escape that is executable at the start wins. */
byte x;
active proctype P() { { x = 1; x = 2 } unless { true -> x = 9 }; assert(x == 9) }
