// quotient: --raw --all --safety => holds, states 31, transitions 30
// quotient: --all --safety => holds, at most 31 states
/* Two independent choices. */
byte x, y;
active proctype P() { select (x : 0 .. 2); select (y : 0 .. x); assert(y <= x) }
