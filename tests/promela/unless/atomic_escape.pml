// quotient: --raw --all --safety => holds, states 17, transitions 21
// quotient: --all --safety => holds, at most 17 states
/* An atomic sequence as the escape. */
byte x; bit e;
active proctype P() { { x = 1; x = 2 } unless { atomic { e -> x = 8; x = 9 } } }
active proctype Q() { e = 1; assert(x != 8) }
