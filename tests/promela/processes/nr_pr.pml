// expect: states=15 transitions=18 errors=none
// spin-default: states=15
/* _nr_pr counts live processes. */
proctype C() { skip }
init { assert(_nr_pr == 1); run C(); run C(); (_nr_pr == 1); skip }
