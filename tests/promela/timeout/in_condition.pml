// quotient: --raw --all --safety => holds, states 10, transitions 11
// quotient: --all --safety => holds, at most 10 states
/* timeout as part of an expression. */
byte x;
active proctype P() { if :: timeout && x == 2 -> x = 3 :: x == 1 -> x = 2; if :: timeout && x == 2 -> x = 3 fi fi }
active proctype Q() { x = 1 }
