// expect: states=7 transitions=8 errors=none
// spin-default: states=7
/* Atomic inside atomic. */
byte x;
active proctype P() { atomic { x++; atomic { x++; x++ }; x++ } }
active proctype Q() { assert(x == 0 || x == 4) }
