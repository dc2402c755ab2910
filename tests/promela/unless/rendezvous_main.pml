// quotient: --raw --all --safety => holds, states 15, transitions 16
// quotient: --all --safety => holds, at most 15 states
/* A rendezvous in the main sequence with an escape that may come first. */
chan c = [0] of { byte };
bit e;
active proctype P() { byte v; { c?v; c?v } unless { e -> skip } }
active proctype Q() { if :: c!1 :: e = 1 fi; end: c!2 }
