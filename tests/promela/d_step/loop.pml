// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* A loop inside a deterministic step. */
byte i, s;
active proctype P() { d_step { i = 1; do :: i <= 4 -> s = s + i; i++ :: else -> break od } ; assert(s == 10) }
