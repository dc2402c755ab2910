// expect: states=5 transitions=5 errors=none
// spin-default: states=5
/* On a d_step it marks where the d_step leads. */
byte y;
active proctype P() { byte x; do :: end: d_step { y == 1 -> x = 2 }; y == 9 od }
active proctype Q() { y = 1 }
