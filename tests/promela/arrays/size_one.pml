// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* An array of one cell is indexed as usual. */
byte a[1];
active proctype P() { a[0] = 3; a[0]++; assert(a[0] == 4) }
