// expect: states=4 transitions=3 errors=none
// spin-default: states=4
/* Two deterministic steps as options. */
byte x;
active proctype P() { if :: d_step { x == 0 -> x = 1; x++ } :: d_step { x == 1 -> x = 9 } fi; assert(x == 2) }
