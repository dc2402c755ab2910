// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* A hidden scratch variable written and read within one atomic sequence. */
hidden byte scratch;
byte a = 1, b = 2;
active proctype P() { atomic { scratch = a; a = b; b = scratch }; assert(a == 2 && b == 1) }
