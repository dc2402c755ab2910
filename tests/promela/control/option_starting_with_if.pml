// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* A choice as the first statement of an option. */
byte x;
active proctype P() { if :: if :: x == 0 -> x = 1 :: x == 1 -> x = 5 fi :: x == 0 -> x = 2 fi }
