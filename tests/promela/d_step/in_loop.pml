// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* A deterministic step as the body of a loop. */
byte x;
active proctype P() { do :: d_step { x < 3 -> x++; x = x * 1 } :: x >= 3 -> break od }
