// expect: states=8 transitions=9 errors=none
// spin-default: states=8
/* A blocked main sequence is rescued by the escape. */
byte x;
active proctype P() { { false } unless { x == 1 -> x = 2 } }
active proctype Q() { x = 1 }
