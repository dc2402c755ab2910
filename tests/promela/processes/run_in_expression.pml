// quotient: --raw --all --safety => holds, states 19, transitions 30
// quotient: --all --safety => holds, at most 19 states
/* run as a condition. */
byte n;
proctype C() { n++ }
init { (run C()); if :: run C() -> n = n + 10 fi }
