// quotient: --raw --all --safety => holds, states 12, transitions 13
// quotient: --all --safety => holds, at most 12 states
/* A rendezvous send as the escape. */
chan c = [0] of { byte };
byte x;
active proctype P() { { do :: x < 2 -> x++ :: x == 2 -> x = 0 od } unless { c!3 } }
active proctype Q() { byte v; (x == 1); c?v; assert(v == 3) }
