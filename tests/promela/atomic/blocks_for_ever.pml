// expect: states=2 transitions=1 errors=deadlock
// spin-default: states=2
/* Blocking inside an atomic sequence for good is a deadlock. */
byte x;
active proctype P() { atomic { x = 1; (x == 2); x = 3 } }
