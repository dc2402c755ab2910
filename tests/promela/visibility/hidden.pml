// expect: states=12 transitions=11 errors=none
// spin-default: states=12
/* A hidden variable is no part of the state. */
hidden byte seen;
byte x;
active proctype P() { do :: x < 3 -> seen = x; x++ :: else -> break od }
