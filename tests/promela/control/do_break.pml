// quotient: --raw --all --safety => holds, states 12, transitions 11
// quotient: --all --safety => holds, at most 12 states
/* A loop left by break. */
byte i;
active proctype P() { do :: i < 4 -> i++ :: i == 4 -> break od; i = 0 }
