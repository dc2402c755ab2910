// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* An else option elsewhere is a move, so no timeout. */
byte x; bit done;
active proctype P() { if :: x == 9 -> skip :: else -> x = 1 fi; done = 1 }
active proctype Q() { timeout -> assert(done) }
