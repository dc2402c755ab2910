// expect: states=9 transitions=8 errors=none
// spin-default: states=9
/* A loop made of a label and a goto. */
byte x;
active proctype P() { again: x++; if :: x < 3 -> goto again :: else fi; assert(x == 3) }
