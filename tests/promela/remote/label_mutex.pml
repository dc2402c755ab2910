// expect: states=3 transitions=7 errors=none
// spin-default: states=3
/* Mutual exclusion observed through labels. */
bit lock;
active [2] proctype P() { do :: atomic { !lock -> lock = 1 }; cs: lock = 0 od }
active proctype M() { do :: assert(!(P[0]@cs && P[1]@cs)) od }
