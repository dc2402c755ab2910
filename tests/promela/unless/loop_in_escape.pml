// quotient: --raw --all --safety => holds, states 9, transitions 8
// quotient: --all --safety => holds, at most 9 states
/* A loop as the escape. */
byte x;
active proctype P() { { x = 1; (x == 5); x = 6 } unless { do :: x == 1 -> x = 2 :: x == 2 -> x = 3 :: x == 3 -> break od } ; assert(x == 3) }
