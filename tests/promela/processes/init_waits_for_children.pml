// quotient: --raw --all --safety => holds, states 17, transitions 22
// quotient: --all --safety => holds, at most 17 states
/* init waits until it is alone. */
byte n;
proctype C() { n++; n++ }
init { atomic { run C(); run C() }; (_nr_pr == 1); assert(n == 4) }
