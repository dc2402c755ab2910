// quotient: --raw --all --safety => holds, states 20, transitions 19
// quotient: --all --safety => holds, at most 20 states
/* A range with negative bounds. */
int x;
active proctype P() { select (x : -2 .. 1); assert(x >= -2 && x <= 1) }
