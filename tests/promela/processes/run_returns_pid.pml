// quotient: --raw --all --safety => violated assertion, states 26, transitions 38
// quotient: --all --safety => violated assertion, at most 26 states
/* run yields the number of the new process, which may be that of one that has died meanwhile. */
byte p, q;
proctype C() { skip }
init { p = run C(); q = run C(); assert(p == 1 && q != p) }
