// expect: states=4 transitions=3 errors=none
// spin-default: states=4
/* A range of one value. */
byte x;
active proctype P() { select (x : 3 .. 3); assert(x == 3) }
