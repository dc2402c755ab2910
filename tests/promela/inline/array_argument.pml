// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* Array cells as arguments. */
byte a[3];
inline set(cell, v) { cell = v }
active proctype P() { set(a[1], 7); set(a[2 - 2], 3); assert(a[0] == 3 && a[1] == 7) }
