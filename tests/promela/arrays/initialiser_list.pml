// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* A list of initialisers, one per cell. */
byte a[4] = { 4, 3, 2, 1 };
active proctype P() { assert(a[0] == 4 && a[3] == 1); a[0] = a[3]; a[3] = a[1] }
