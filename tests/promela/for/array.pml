// quotient: --raw --all --safety => holds, states 17, transitions 16
// quotient: --all --safety => holds, at most 17 states
/* for over the indices of an array. */
byte a[4] = 2; byte s;
active proctype P() { byte i; for (i in a) { s = s + a[i] + i }; assert(s == 14) }
