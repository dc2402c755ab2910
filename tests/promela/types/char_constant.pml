// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* A character literal is its code. */
byte c;
active proctype P() { c = 'A'; assert(c == 65); c++; assert(c == 'B') }
