// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* A symbolic name as a field. */
mtype = { up, down };
typedef link { mtype st; byte n };
link l[2];
active proctype P() { l[0].st = up; l[1].st = down; l[1].n = l[0].st == up; assert(l[1].n == 1) }
