// quotient: --raw --all --safety => holds, states 7, transitions 7
// quotient: --all --safety => holds, at most 7 states
/* A local initialiser may use a parameter. */
byte out;
proctype Q(byte p) { byte l = p + 1; out = l }
init { run Q(4); (out == 5) }
