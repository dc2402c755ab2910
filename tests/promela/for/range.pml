// quotient: --raw --all --safety => holds, states 17, transitions 16
// quotient: --all --safety => holds, at most 17 states
/* for over a range, both ends included. */
byte s;
active proctype P() { byte i; for (i : 1 .. 4) { s = s + i }; assert(s == 10) }
