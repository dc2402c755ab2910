// expect: states=5 transitions=5 errors=none
// spin-default: states=5
/* The same inside an unless. */
byte y;
active proctype P() { { do :: end: y == 1 -> y == 9 od } unless { y == 5 } }
active proctype Q() { y = 1 }
