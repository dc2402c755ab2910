// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* Two-dimensional data: an array of rows. */
typedef row { byte c[2] };
row m[2];
active proctype P() { m[0].c[1] = 5; m[1].c[0] = m[0].c[1]; assert(m[1].c[0] == 5 && m[0].c[0] == 0) }
