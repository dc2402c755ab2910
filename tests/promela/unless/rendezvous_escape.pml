// quotient: --raw --all --safety => holds, states 12, transitions 16
// quotient: --all --safety => holds, at most 12 states
/* A rendezvous receive as the escape. */
chan c = [0] of { byte };
byte x;
active proctype P() { { x = 1; x = 2; (x == 5) } unless { c?7 -> x = 9 } }
active proctype Q() { c!7 }
