// expect: states=22 transitions=36 errors=none
// spin-default: states=22
/* A macro decides the number of processes. */
#ifndef N
#define N 3
#endif
byte done;
active [N] proctype P() { done++; (done == N) }
