// quotient: --raw --all --safety => holds, states 7, transitions 8
// quotient: --all --safety => holds, at most 7 states
/* A loop by goto inside one atomic sequence. */
byte x;
active proctype P() { atomic { skip; l: x++; if :: x < 4 -> goto l :: else fi; x = 10 } }
active proctype Q() { assert(x == 0 || x == 10) }
