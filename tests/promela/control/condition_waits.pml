// expect: states=9 transitions=8 errors=none
// spin-default: states=9
/* A condition is a statement that waits. */
byte x;
active proctype P() { (x == 2); x = 3 }
active proctype Q() { x = 1; x = 2; (x == 3); x = 0 }
