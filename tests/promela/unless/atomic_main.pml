// quotient: --raw --all --safety => holds, states 17, transitions 21
// quotient: --all --safety => holds, at most 12 states
/* An atomic sequence as the main sequence. */
byte x; bit e;
active proctype P() { { atomic { x = 1; x = 2 }; x = 3 } unless { e -> x = 9 } }
active proctype Q() { e = 1 }
