// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* Each timeout inside an atomic sequence waits anew: other processes may move in between. */
byte i; byte seen;
active proctype P() { atomic { do :: i < 2 -> timeout; i++ :: i == 2 -> break od } }
active proctype Q() { i > 0; seen = i }
