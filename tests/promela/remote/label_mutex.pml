// quotient: --raw --all --safety => holds, states 3, transitions 7
// quotient: --all --safety => holds, at most 3 states
/* Mutual exclusion observed through labels. */
bit lock;
active [2] proctype P() { do :: atomic { !lock -> lock = 1 }; cs: lock = 0 od }
active proctype M() { do :: assert(!(P[0]@cs && P[1]@cs)) od }
