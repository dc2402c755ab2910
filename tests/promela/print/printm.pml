// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* printm and %e print symbolic names. */
mtype = { go, halt };
mtype m = go;
active proctype P() { printm(m); printf("%e\n", m); m = halt; printm(halt) }
