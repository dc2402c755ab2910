// expect: states=12 transitions=13 errors=none
// spin-default: states=12
/* A dead process's number is given again. */
byte p, q;
proctype C() { skip }
init { p = run C(); (_nr_pr == 1); q = run C(); assert(p == q) }
