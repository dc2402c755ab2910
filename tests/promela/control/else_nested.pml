// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* else inside else. */
byte x = 2;
active proctype P() { if :: x == 0 -> assert(false) :: else -> if :: x == 1 -> assert(false) :: else -> x = 7 fi fi; assert(x == 7) }
