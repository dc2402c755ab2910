// expect: states=17 transitions=16 errors=none
// spin-default: states=17
/* Bounds that are expressions. */
byte n = 2, s;
active proctype P() { byte i; for (i : n - 1 .. n * 2) { s++ }; assert(s == 4) }
