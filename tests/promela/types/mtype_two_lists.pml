// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* A second mtype declaration goes on counting. */
mtype = { a, b };
mtype = { c };
mtype m = a;
active proctype P() { m = b; m = c; assert(a != b && b != c && a != c) }
