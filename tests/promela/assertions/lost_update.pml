// expect: states=28 transitions=33 errors=assertion
// spin-default: states=28
/* The classic lost update, asserted by the process that started the writers. */
byte n;
proctype P() { byte t; t = n; n = t + 1 }
init { atomic { run P(); run P() }; (_nr_pr == 1); assert(n == 2) }
