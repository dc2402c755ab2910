// expect: states=11 transitions=10 errors=none
// spin-default: states=11
/* Symbolic constants in expressions. */
#define LIMIT 4
byte x;
active proctype P() { do :: x < LIMIT -> x = x + 1 :: x == LIMIT -> break od }
