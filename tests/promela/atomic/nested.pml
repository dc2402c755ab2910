// quotient: --raw --all --safety => holds, states 7, transitions 8
// quotient: --all --safety => holds, at most 7 states
/* Atomic inside atomic. */
byte x;
active proctype P() { atomic { x++; atomic { x++; x++ }; x++ } }
active proctype Q() { assert(x == 0 || x == 4) }
