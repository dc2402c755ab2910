// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* A list of initialisers, one per cell. */
byte a[4] = { 4, 3, 2, 1 };
active proctype P() { assert(a[0] == 4 && a[3] == 1); a[0] = a[3]; a[3] = a[1] }
