// expect: states=26 transitions=25 errors=none
// spin-default: states=26
/* A byte counts modulo 256. */
byte x = 250;
active proctype P() { do :: x != 5 -> x++ :: else -> break od; assert(x == 5) }
