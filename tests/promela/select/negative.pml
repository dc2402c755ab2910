// expect: states=20 transitions=19 errors=none
// spin-default: states=20
/* A range with negative bounds. */
int x;
active proctype P() { select (x : -2 .. 1); assert(x >= -2 && x <= 1) }
