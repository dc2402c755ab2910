// quotient: --raw --all --safety => holds, states 12, transitions 13
// quotient: --all --safety => holds, at most 12 states
/* A dead process's number is given again. */
byte p, q;
proctype C() { skip }
init { p = run C(); (_nr_pr == 1); q = run C(); assert(p == q) }
