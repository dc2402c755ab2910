// quotient: --raw --all --safety => holds, states 22, transitions 26
// quotient: --all --safety => holds, at most 22 states
/* The same locks in the same order: no deadlock. */
bit l[2];
active [2] proctype P() { atomic { !l[0] -> l[0] = 1 }; atomic { !l[1] -> l[1] = 1 }; l[1] = 0; l[0] = 0 }
