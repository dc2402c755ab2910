// quotient: --raw --all --safety => violated deadlock, states 12, transitions 12
// quotient: --all --safety => violated deadlock, at most 12 states
/* A mark goes no further than where the first step leads: the second choice is marked, what follows is not. */
byte y;
active proctype P() { if :: end: y == 0 -> if :: y == 1 -> y == 8 :: y == 2 fi fi }
active proctype Q() { if :: y = 1 :: y = 3 fi }
