// quotient: --raw --all --safety => holds, states 24, transitions 23
// quotient: --all --safety => holds, at most 24 states
/* break leaves the innermost loop. */
byte i, j, n;
active proctype P() { do :: i < 2 -> j = 0; do :: j < 2 -> j++; n++ :: else -> break od; i++ :: else -> break od; assert(n == 4) }
