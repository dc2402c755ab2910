// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* A range that is empty when the loop is reached. */
byte s, low = 5, high = 4;
active proctype P() { byte i; for (i : low .. high) { s++ }; assert(s == 0) }
