// quotient: --raw --all --safety => holds, states 14, transitions 13
// quotient: --all --safety => holds, at most 14 states
/* A channel dies with its process; its messages go too. */
byte x;
proctype C() { chan q = [2] of { byte }; q!1; q!2; q?x }
init { run C(); (_nr_pr == 1); run C(); (_nr_pr == 1) }
