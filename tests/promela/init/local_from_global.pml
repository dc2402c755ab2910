// quotient: --raw --all --safety => holds, states 17, transitions 22
// quotient: --all --safety => holds, at most 17 states
/* A local initialiser reads a global when the process starts. */
byte g = 1;
proctype Q() { byte l = g; assert(l == 1 || l == 2) }
init { run Q(); g = 2; run Q() }
