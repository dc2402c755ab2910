// expect: states=10 transitions=9 errors=none
// spin-default: states=10
/* A label inside an inline that is used once. */
byte n;
inline count() { skip; again: n++; if :: n < 3 -> goto again :: else fi }
active proctype P() { count(); assert(n == 3) }
