// quotient: --raw --all --safety => holds, states 19, transitions 24
// quotient: --all --safety => holds, at most 19 states
/* A jump out of the main sequence. */
byte x; bit e;
active proctype P() { { x = 1; goto out; x = 2 } unless { e -> x = 9 }; x = 5; out: assert(x != 2) }
active proctype Q() { e = 1 }
