// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* Negative values in cells. */
int a[2] = -3;
active proctype P() { a[0] = a[0] * a[1]; assert(a[0] == 9); a[1] = a[1] - a[0]; assert(a[1] == -12) }
