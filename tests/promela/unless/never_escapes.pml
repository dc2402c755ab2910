// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* Without an executable escape the main sequence runs through. */
bit stop; byte x;
active proctype P() { { x = 1; x = 2 } unless { stop -> x = 9 }; assert(x == 2) }
