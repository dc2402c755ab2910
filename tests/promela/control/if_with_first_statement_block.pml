// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 4 states
/* An option may begin with a block. */
byte x;
active proctype P() { if :: { x = 1; x = 2 } :: { x = 3 } fi }
