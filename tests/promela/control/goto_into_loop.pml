// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* A jump into the body of a loop. */
byte x;
active proctype P() { goto middle; do :: x < 2 -> x = x + 10; middle: x++ :: x >= 2 -> break od; assert(x == 12) }
