// quotient: --raw --all --safety => holds, states 7, transitions 8
// quotient: --all --safety => holds, at most 7 states
/* A jump from one atomic sequence into another does not interrupt. */
byte x;
active proctype P() { atomic { x = 1; goto second }; skip; atomic { x = 5; second: x = 2; x = 3 } }
active proctype Q() { assert(x == 0 || x == 3) }
