// quotient: --raw --all --safety => violated assertion, states 7, transitions 6
// quotient: --all --safety => violated assertion, at most 7 states
/* assert as a guard of a choice. */
byte x;
active proctype P() { if :: assert(x == 0) -> x = 1 :: assert(x == 1) -> x = 2 fi }
