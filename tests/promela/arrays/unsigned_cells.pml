// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* Cells of a narrow unsigned type wrap one by one. */
unsigned u : 2;
byte a[2] = 3;
active proctype P() { u = a[0] + 2; a[1] = u; assert(a[1] == 1) }
