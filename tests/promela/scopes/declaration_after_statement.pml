// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* A declaration in the middle of a body. */
byte g;
active proctype P() { g = 2; byte l = 7; g = g + l; assert(g == 9) }
