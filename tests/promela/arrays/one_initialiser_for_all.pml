// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* An initialiser is copied into every cell. */
byte a[3] = 7;
active proctype P() { assert(a[0] == 7 && a[1] == 7 && a[2] == 7); a[0]++ }
