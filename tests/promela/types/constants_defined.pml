// quotient: --raw --all --safety => holds, states 11, transitions 10
// quotient: --all --safety => holds, at most 11 states
/* Symbolic constants in expressions. */
#define LIMIT 4
byte x;
active proctype P() { do :: x < LIMIT -> x = x + 1 :: x == LIMIT -> break od }
