// expect: states=4 transitions=3 errors=none
// spin-default: states=4
/* Comparison results are 0 and 1 and can be added. */
int n;
active proctype P() { n = (1 < 2) + (2 < 1) + !0 + !7; assert(n == 2) }
