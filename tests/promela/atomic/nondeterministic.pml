// quotient: --raw --all --safety => holds, states 19, transitions 26
// quotient: --all --safety => holds, at most 11 states
/* Choices inside an atomic sequence are all explored. */
byte x, y;
active proctype P() { atomic { if :: x = 1 :: x = 2 fi; if :: y = x :: y = 0 fi } }
active proctype Q() { assert(x == 0 || x == 1 || x == 2) }
