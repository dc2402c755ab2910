// quotient: --raw --all --safety => holds, states 7, transitions 8
// quotient: --all --safety => holds, at most 7 states
/* A loop inside an atomic sequence. */
byte i;
active proctype P() { atomic { do :: i < 5 -> i++ :: i == 5 -> break od } }
active proctype Q() { assert(i == 0 || i == 5) }
