// quotient: --raw --all --safety => holds, states 2, transitions 2
// quotient: --all --safety => holds, at most 2 states
/* A progress label has no influence on safety. */
bit b;
active proctype P() { do :: b = 1; progress: b = 0 od }
