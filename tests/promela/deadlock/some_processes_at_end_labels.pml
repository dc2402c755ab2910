// expect: states=1 transitions=0 errors=deadlock
// spin-default: states=1
/* One process at an end label, the other not. */
byte x;
active proctype P() { end: (x == 1) }
active proctype Q() { (x == 2) }
