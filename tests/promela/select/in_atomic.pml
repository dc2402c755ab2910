// quotient: --raw --all --safety => holds, states 15, transitions 20
// quotient: --all --safety => holds, at most 15 states
/* select inside an atomic sequence. */
byte x;
active proctype P() { atomic { select (x : 1 .. 3); x = x * 2 } }
active proctype Q() { assert(x != 1 && x != 3) }
