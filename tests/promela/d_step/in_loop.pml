// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* A deterministic step as the body of a loop. */
byte x;
active proctype P() { do :: d_step { x < 3 -> x++; x = x * 1 } :: x >= 3 -> break od }
