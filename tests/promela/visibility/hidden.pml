// expect: states=12 transitions=11 errors=none
// spin-default: states=12
/* A hidden variable is no part of the state. */
hidden byte h;
byte x;
active proctype P() { do :: x < 3 -> h = x; x++ :: else -> break od }
