// quotient: --raw --all --safety => holds, states 16, transitions 15
// quotient: --all --safety => holds, at most 16 states
/* A choice nested in a loop. */
byte i, s;
active proctype P() { do :: i < 3 -> i++; if :: i % 2 -> s = s + i :: else -> skip fi :: i == 3 -> break od; assert(s == 4) }
