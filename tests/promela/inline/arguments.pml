// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* Parameters are replaced by the text of the arguments. */
byte a = 1, b = 2;
inline swap(p, q) { t = p; p = q; q = t }
active proctype P() { byte t; swap(a, b); assert(a == 2 && b == 1) }
