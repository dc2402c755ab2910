// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* Negative integers, unary minus, comparison. */
int i = -5;
active proctype P() { i = -i; assert(i == 5); i = i - 12; assert(i < 0 && i == -7); i = - (i + 1); assert(i == 6) }
