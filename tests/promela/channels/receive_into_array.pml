// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* Receiving into an array cell. */
chan c = [2] of { byte };
byte a[2], i;
active proctype P() { c!8; c!9; c?a[i]; i++; c?a[i]; assert(a[0] == 8 && a[1] == 9) }
