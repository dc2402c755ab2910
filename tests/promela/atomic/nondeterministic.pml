// expect: states=19 transitions=26 errors=none
// spin-default: states=11
/* Choices inside an atomic sequence are all explored. */
byte x, y;
active proctype P() { atomic { if :: x = 1 :: x = 2 fi; if :: y = x :: y = 0 fi } }
active proctype Q() { assert(x == 0 || x == 1 || x == 2) }
