// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* else inside else. */
byte x = 2;
active proctype P() { if :: x == 0 -> assert(false) :: else -> if :: x == 1 -> assert(false) :: else -> x = 7 fi fi; assert(x == 7) }
