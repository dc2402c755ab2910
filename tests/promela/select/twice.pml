// expect: states=31 transitions=30 errors=none
// spin-default: states=31
/* Two independent choices. */
byte x, y;
active proctype P() { select (x : 0 .. 2); select (y : 0 .. x); assert(y <= x) }
