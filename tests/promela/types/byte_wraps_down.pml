// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* Decrementing a byte at zero gives 255. */
byte x;
active proctype P() { x--; assert(x == 255); x = -1; assert(x == 255); x = 300; assert(x == 44) }
