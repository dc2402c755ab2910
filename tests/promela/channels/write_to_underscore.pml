// quotient: --raw --all --safety => holds, states 12, transitions 11
// quotient: --all --safety => holds, at most 6 states
/* _ can be assigned and holds no state. */
active proctype P() { byte i; do :: i < 3 -> _ = i; i++ :: else -> break od }
