// expect: states=13 transitions=12 errors=none
// spin-default: states=13
/* select chooses any value of a range. */
byte x;
active proctype P() { select (x : 2 .. 5); assert(x >= 2 && x <= 5) }
