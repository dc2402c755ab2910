// quotient: --raw --all --safety => holds, states 12, transitions 11
// quotient: --all --safety => holds, at most 12 states
/* A hidden variable is not part of the state. */
hidden byte seen;
byte x;
active proctype P() { do :: x < 3 -> seen = x; x++ :: else -> break od }
