// quotient: --raw --all --safety => holds, states 11, transitions 10
// quotient: --all --safety => holds, at most 8 states
/* A parameter can be assigned. */
proctype C(byte n) { do :: n > 0 -> n-- :: n == 0 -> break od }
init { run C(3) }
