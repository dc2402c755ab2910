// expect: states=6 transitions=6 errors=none
// spin-default: states=6
/* The first statement may wait. */
byte x;
active proctype P() { d_step { (x == 1); x = 2; x = 3 } }
active proctype Q() { x = 1 }
