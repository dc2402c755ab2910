// quotient: --raw --all --safety => violated channel, states 5, transitions 4
// quotient: --all --safety => violated channel, at most 5 states
/* A poll of a rendezvous channel. */
chan c = [0] of { byte };
byte x;
active proctype S() { c!0 }
active proctype R() { if :: c?[0] -> x = 1 :: x = 2 fi; c?x }
