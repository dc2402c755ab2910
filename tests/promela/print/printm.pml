// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* printm and %e print symbolic names. */
mtype = { go, halt };
mtype m = go;
active proctype P() { printm(m); printf("%e\n", m); m = halt; printm(halt) }
