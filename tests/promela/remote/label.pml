// quotient: --raw --all --safety => violated deadlock, states 14, transitions 17
// quotient: --all --safety => violated deadlock, at most 14 states
/* P@label as a condition. */
byte x;
active proctype P() { x = 1; here: x = 2; x = 3 }
active proctype Q() { (P@here); assert(x == 1 || x == 2 || x == 3) }
