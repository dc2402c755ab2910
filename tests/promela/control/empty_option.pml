// expect: states=6 transitions=6 errors=none
// spin-default: states=6
/* An option that is only a guard. */
byte x;
active proctype P() { if :: x == 0 :: x == 0 -> x = 1 fi; x = 2 }
