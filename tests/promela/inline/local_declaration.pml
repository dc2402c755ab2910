// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* A variable declared inside an inline, used twice. */
byte out;
inline add(n) { byte t = n; out = out + t }
active proctype P() { add(3); add(4); assert(out == 7) }
