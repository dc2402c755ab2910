// quotient: --raw --all --safety => holds, states 3, transitions 3
// quotient: --all --safety => holds, at most 3 states
/* Two equal options are two transitions to one state. */
byte x;
active proctype P() { if :: x = 1 :: x = 1 fi }
