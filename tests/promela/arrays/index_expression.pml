// quotient: --raw --all --safety => holds, states 9, transitions 8
// quotient: --all --safety => holds, at most 9 states
/* Any expression may index. */
byte a[5]; byte i = 1;
active proctype P() { a[i + 1] = 3; i = a[2]; a[i] = 9; i = 1; assert(a[3] == 9); a[(i * 4) % 5] = 1; assert(a[4] == 1) }
