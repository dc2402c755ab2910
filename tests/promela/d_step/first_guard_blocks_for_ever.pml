// expect: states=1 transitions=0 errors=deadlock
// spin-default: states=1
/* A guard that never holds. */
byte x;
active proctype P() { d_step { (x == 1); x = 2 } }
