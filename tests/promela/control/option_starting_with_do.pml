// quotient: --raw --all --safety => holds, states 9, transitions 8
// quotient: --all --safety => holds, at most 9 states
/* A loop as the guard of an option. */
byte x;
active proctype P() { do :: do :: x < 2 -> x++ :: x == 2 -> break od; x = 5 :: x == 5 -> break od }
