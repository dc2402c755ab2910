// quotient: --raw --all --safety => holds, states 35, transitions 34
// quotient: --all --safety => holds, at most 32 states
/* Nested loops. */
byte s;
active proctype P() { byte i, j; for (i : 0 .. 2) { for (j : 0 .. i) { s++ } }; assert(s == 6) }
