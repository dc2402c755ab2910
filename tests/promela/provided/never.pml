// quotient: --raw --all --safety => violated deadlock, states 1, transitions 0
// quotient: --all --safety => violated deadlock, at most 1 states
/* A clause that never holds leaves the process stuck. */
byte x;
active proctype P() provided (x == 1) { skip }
