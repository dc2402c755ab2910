// quotient: --raw --all --safety => holds, states 10, transitions 10
// quotient: --all --safety => holds, at most 10 states
/* else inside an atomic sequence. */
byte x;
active proctype P() { atomic { if :: x == 1 -> x = 5 :: else -> x = 6 fi; x++ } }
active proctype Q() { x = 1 }
