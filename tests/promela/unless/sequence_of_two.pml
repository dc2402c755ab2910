// quotient: --raw --all --safety => holds, states 24, transitions 29
// quotient: --all --safety => holds, at most 24 states
/* Two unless statements one after the other. */
bit a; byte x;
active proctype P() { { x = 1 } unless { a -> x = 2 }; { x = x + 10 } unless { a -> x = x + 20 } }
active proctype Q() { a = 1 }
