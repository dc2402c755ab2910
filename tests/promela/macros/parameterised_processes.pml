// quotient: --raw --all --safety => holds, states 22, transitions 36
// quotient: --all --safety => holds, at most 22 states
/* A macro decides the number of processes. */
#ifndef N
#define N 3
#endif
byte done;
active [N] proctype P() { done++; (done == N) }
