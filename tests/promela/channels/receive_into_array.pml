// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* Receiving into an array cell. */
chan c = [2] of { byte };
byte a[2], i;
active proctype P() { c!8; c!9; c?a[i]; i++; c?a[i]; assert(a[0] == 8 && a[1] == 9) }
