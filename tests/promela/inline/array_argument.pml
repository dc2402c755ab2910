// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* Array cells as arguments. */
byte a[3];
inline set(cell, v) { cell = v }
active proctype P() { set(a[1], 7); set(a[2 - 2], 3); assert(a[0] == 3 && a[1] == 7) }
