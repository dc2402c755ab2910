// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* A character literal is its code. */
byte c;
active proctype P() { c = 'A'; assert(c == 65); c++; assert(c == 'B') }
