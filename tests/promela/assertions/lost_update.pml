// quotient: --raw --all --safety => violated assertion, states 28, transitions 33
// quotient: --all --safety => violated assertion, at most 28 states
/* The classic lost update, asserted by the process that started the writers. */
byte n;
proctype P() { byte t; t = n; n = t + 1 }
init { atomic { run P(); run P() }; (_nr_pr == 1); assert(n == 2) }
