// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* Cells of an array start at zero. */
byte a[4];
active proctype P() { assert(a[0] + a[1] + a[2] + a[3] == 0); a[1] = 5; a[3] = a[1] }
