// quotient: --raw --all --safety => holds, states 2, transitions 2
// quotient: --all --safety => holds, at most 2 states
/* A loop that never ends is a finite cycle of states. */
bit b;
active proctype P() { do :: b = 1 - b od }
