// quotient: --raw --all --safety => holds, states 26, transitions 25
// quotient: --all --safety => holds, at most 26 states
/* A byte counts modulo 256. */
byte x = 250;
active proctype P() { do :: x != 5 -> x++ :: else -> break od; assert(x == 5) }
