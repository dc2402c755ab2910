// expect: states=17 transitions=22 errors=none
// spin-default: states=17
/* init waits until it is alone. */
byte n;
proctype C() { n++; n++ }
init { atomic { run C(); run C() }; (_nr_pr == 1); assert(n == 4) }
