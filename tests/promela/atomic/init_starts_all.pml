// quotient: --raw --all --safety => holds, states 21, transitions 33
// quotient: --all --safety => holds, at most 21 states
/* The usual atomic start of several processes. */
byte n;
proctype P() { n++ }
init { atomic { run P(); run P(); run P() }; (n == 3) }
