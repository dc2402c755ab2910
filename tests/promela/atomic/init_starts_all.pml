// expect: states=21 transitions=33 errors=none
// spin-default: states=21
/* The usual atomic start of several processes. */
byte n;
proctype P() { n++ }
init { atomic { run P(); run P(); run P() }; (n == 3) }
