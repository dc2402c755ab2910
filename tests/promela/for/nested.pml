// expect: states=35 transitions=34 errors=none
// spin-default: states=32
/* Nested loops. */
byte s;
active proctype P() { byte i, j; for (i : 0 .. 2) { for (j : 0 .. i) { s++ } }; assert(s == 6) }
