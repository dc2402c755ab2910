// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* A range of one value. */
byte x;
active proctype P() { select (x : 3 .. 3); assert(x == 3) }
