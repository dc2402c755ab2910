// quotient: --raw --all --safety => holds, states 26, transitions 25
// quotient: --all --safety => holds, at most 26 states
/* A jump out of two loops at once. */
byte i, j;
active proctype P() { do :: i < 3 -> j = 0; do :: j < 3 -> if :: i == 1 && j == 2 -> goto done :: else -> j++ fi :: else -> break od; i++ :: else -> break od; assert(false); done: assert(i == 1 && j == 2) }
