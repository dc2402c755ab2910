// quotient: --raw --all --safety => holds, states 15, transitions 18
// quotient: --all --safety => holds, at most 15 states
/* _nr_pr counts live processes. */
proctype C() { skip }
init { assert(_nr_pr == 1); run C(); run C(); (_nr_pr == 1); skip }
