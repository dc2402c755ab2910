// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* A jump into the body of a loop. */
byte x;
active proctype P() { goto middle; do :: x < 2 -> x = x + 10; middle: x++ :: x >= 2 -> break od; assert(x == 12) }
