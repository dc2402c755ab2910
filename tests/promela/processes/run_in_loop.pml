// quotient: --raw --all --safety => holds, states 120, transitions 249
// quotient: --all --safety => holds, at most 120 states
/* Processes started in a loop. */
byte n;
proctype C(byte k) { n = n + k }
init { byte i = 1; do :: i <= 3 -> run C(i); i++ :: else -> break od }
