// expect: states=20 transitions=26 errors=none
// spin-default: states=20
/* else inside the main sequence. */
byte x; bit e;
active proctype P() { { if :: x == 1 -> x = 2 :: else -> x = 3 fi; x = 4 } unless { e -> x = 9 } }
active proctype Q() { e = 1 }
