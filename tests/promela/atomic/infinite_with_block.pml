// quotient: --raw --all --safety => holds, states 2, transitions 2
// quotient: --all --safety => holds, at most 2 states
/* A loop of atomic sequences of two processes taking turns. */
bit turn;
active proctype P() { do :: atomic { turn == 0 -> skip; turn = 1 } od }
active proctype Q() { do :: atomic { turn == 1 -> skip; turn = 0 } od }
