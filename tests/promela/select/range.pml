// quotient: --raw --all --safety => holds, states 13, transitions 12
// quotient: --all --safety => holds, at most 13 states
/* select chooses any value of a range. */
byte x;
active proctype P() { select (x : 2 .. 5); assert(x >= 2 && x <= 5) }
