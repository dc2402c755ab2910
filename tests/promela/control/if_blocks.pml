// quotient: --raw --all --safety => holds, states 8, transitions 9
// quotient: --all --safety => holds, at most 8 states
/* An if without executable option waits. */
byte x;
active proctype P() { if :: x == 1 -> x = 2 :: x == 3 -> x = 4 fi }
active proctype Q() { x = 1 }
