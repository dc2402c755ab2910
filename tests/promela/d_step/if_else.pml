// expect: states=4 transitions=3 errors=none
// spin-default: states=4
/* A choice inside a deterministic step. */
byte x = 3, y;
active proctype P() { d_step { if :: x > 2 -> y = 1 :: else -> y = 2 fi; x = 0 }; assert(y == 1) }
