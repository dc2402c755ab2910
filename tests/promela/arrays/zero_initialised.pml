// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* Cells of an array start at zero. */
byte a[4];
active proctype P() { assert(a[0] + a[1] + a[2] + a[3] == 0); a[1] = 5; a[3] = a[1] }
