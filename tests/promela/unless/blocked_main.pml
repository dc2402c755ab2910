// quotient: --raw --all --safety => holds, states 8, transitions 9
// quotient: --all --safety => holds, at most 8 states
/* A blocked main sequence is rescued by the escape. */
byte x;
active proctype P() { { false } unless { x == 1 -> x = 2 } }
active proctype Q() { x = 1 }
