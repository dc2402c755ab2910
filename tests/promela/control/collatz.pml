// quotient: --raw --all --safety => holds, states 28, transitions 27
// quotient: --all --safety => holds, at most 28 states
/* A longer deterministic computation. */
int n = 6; byte steps;
active proctype P() { do :: n == 1 -> break :: n != 1 && n % 2 == 0 -> n = n / 2; steps++ :: n != 1 && n % 2 == 1 -> n = 3 * n + 1; steps++ od; assert(steps == 8) }
