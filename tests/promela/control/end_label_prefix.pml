// quotient: --raw --all --safety => holds, states 7, transitions 7
// quotient: --all --safety => holds, at most 7 states
/* Every label that starts with end counts. */
byte x;
active proctype P() { endhere: (x == 1); end_2: (x == 2) }
active proctype Q() { if :: x = 1 :: skip fi }
