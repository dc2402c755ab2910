// expect: states=4 transitions=3 errors=none
// spin-default: states=4
/* Two names of one channel are equal. */
chan a = [1] of { byte };
chan b = [1] of { byte };
active proctype P() { chan v; v = a; assert(v == a && v != b) }
