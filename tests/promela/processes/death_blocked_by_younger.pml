// quotient: --raw --all --safety => violated deadlock, states 2, transitions 1
// quotient: --all --safety => violated deadlock, at most 2 states
/* A younger blocked process keeps an older one from leaving. */
byte n;
active proctype Old() { n = _nr_pr }
active proctype Young() { false }
