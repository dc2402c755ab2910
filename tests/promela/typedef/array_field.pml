// quotient: --raw --all --safety => holds, states 13, transitions 12
// quotient: --all --safety => holds, at most 13 states
/* An array as a field. */
typedef row { byte c[3] };
row r;
active proctype P() { byte i; do :: i < 3 -> r.c[i] = i; i++ :: else -> break od; assert(r.c[2] == 2 && r.c[0] == 0) }
