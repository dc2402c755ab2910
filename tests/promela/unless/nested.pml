// quotient: --raw --all --safety => holds, states 51, transitions 83
// quotient: --all --safety => holds, at most 31 states
/* An unless inside an unless; the inner escape has precedence. */
bit a, b; byte x;
active proctype P() { { { x = 1; x = 2 } unless { a -> x = 3 } } unless { b -> x = 4 } }
active proctype Q() { a = 1 }
active proctype R() { b = 1 }
