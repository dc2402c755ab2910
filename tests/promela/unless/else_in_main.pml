// quotient: --raw --all --safety => holds, states 20, transitions 26
// quotient: --all --safety => holds, at most 20 states
/* else inside the main sequence. */
byte x; bit e;
active proctype P() { { if :: x == 1 -> x = 2 :: else -> x = 3 fi; x = 4 } unless { e -> x = 9 } }
active proctype Q() { e = 1 }
