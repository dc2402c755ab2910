// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* else is taken exactly when no other option is executable. */
byte x;
active proctype P() { if :: x > 0 -> assert(false) :: else -> x = 1 fi; if :: x > 0 -> skip :: else -> assert(false) fi }
