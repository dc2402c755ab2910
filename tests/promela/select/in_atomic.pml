// expect: states=15 transitions=20 errors=none
// spin-default: states=15
/* select inside an atomic sequence. */
byte x;
active proctype P() { atomic { select (x : 1 .. 3); x = x * 2 } }
active proctype Q() { assert(x != 1 && x != 3) }
