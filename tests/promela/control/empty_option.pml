// quotient: --raw --all --safety => holds, states 6, transitions 6
// quotient: --all --safety => holds, at most 6 states
/* An option that is only a guard. */
byte x;
active proctype P() { if :: x == 0 :: x == 0 -> x = 1 fi; x = 2 }
