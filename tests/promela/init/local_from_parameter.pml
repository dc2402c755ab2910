// expect: states=7 transitions=7 errors=none
// spin-default: states=7
/* A local initialiser may use a parameter. */
byte out;
proctype Q(byte p) { byte l = p + 1; out = l }
init { run Q(4); (out == 5) }
