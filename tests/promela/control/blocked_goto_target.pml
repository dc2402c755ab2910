// quotient: --raw --all --safety => holds, states 8, transitions 9
// quotient: --all --safety => holds, at most 8 states
/* A jump to a statement that must wait. */
byte x;
active proctype P() { goto w; x = 9; w: (x == 1); x = 2 }
active proctype Q() { x = 1 }
