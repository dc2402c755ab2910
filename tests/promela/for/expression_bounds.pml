// quotient: --raw --all --safety => holds, states 17, transitions 16
// quotient: --all --safety => holds, at most 17 states
/* Bounds that are expressions. */
byte n = 2, s;
active proctype P() { byte i; for (i : n - 1 .. n * 2) { s++ }; assert(s == 4) }
