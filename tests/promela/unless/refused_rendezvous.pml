// quotient: --raw --all --safety => holds, states 82, transitions 131
// quotient: --all --safety => holds, at most 41 states
/* A rendezvous that nobody accepts lets the main sequence go on. */
byte x, y;
chan r = [0] of { byte };
active proctype P() { { x = 1; x = 2; x = 3 } unless { if :: r!1 :: y == 0 -> y = 1 fi; y = 2 } }
active proctype Q() { y = 3; x = 4; y = 0 }
