// expect: states=9 transitions=8 errors=none
// spin-default: states=9
/* Two labels on one statement. */
byte x;
active proctype P() { a: b: x++; if :: x < 2 -> goto a :: x == 2 -> goto b :: else fi; assert(x == 3) }
