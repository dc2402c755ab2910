// quotient: --raw --all --safety => holds, states 9, transitions 8
// quotient: --all --safety => holds, at most 9 states
/* A loop made of a label and a goto. */
byte x;
active proctype P() { again: x++; if :: x < 3 -> goto again :: else fi; assert(x == 3) }
