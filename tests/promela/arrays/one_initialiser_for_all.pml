// expect: states=4 transitions=3 errors=none
// spin-default: states=4
/* An initialiser is copied into every cell. */
byte a[3] = 7;
active proctype P() { assert(a[0] == 7 && a[1] == 7 && a[2] == 7); a[0]++ }
