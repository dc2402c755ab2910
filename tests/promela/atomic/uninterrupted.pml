// expect: states=7 transitions=8 errors=none
// spin-default: states=7
/* Nobody runs inside an atomic sequence. */
byte x;
active [2] proctype P() { atomic { x++; x--; assert(x == 0) } }
