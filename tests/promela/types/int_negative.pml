// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* Negative integers, unary minus, comparison. */
int i = -5;
active proctype P() { i = -i; assert(i == 5); i = i - 12; assert(i < 0 && i == -7); i = - (i + 1); assert(i == 6) }
