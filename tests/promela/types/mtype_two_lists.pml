// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* A second mtype declaration goes on counting. */
mtype = { a, b };
mtype = { c };
mtype m = a;
active proctype P() { m = b; m = c; assert(a != b && b != c && a != c) }
