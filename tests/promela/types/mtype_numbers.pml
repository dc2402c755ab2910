// quotient: --raw --all --safety => holds, states 9, transitions 8
// quotient: --all --safety => holds, at most 9 states
/* Symbolic names are numbered from 1, the last one declared first. */
mtype = { red, green, blue };
mtype m;
active proctype P() { assert(m == 0); m = red; assert(m == 3); m = green; assert(m == 2); m = blue; assert(m == 1) }
