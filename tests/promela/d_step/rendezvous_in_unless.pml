// quotient: --raw --all --safety => violated deadlock, states 17, transitions 22
// quotient: --all --safety => violated deadlock, at most 15 states
/* An escape does not interrupt a deterministic step that a rendezvous has begun. */
chan c = [0] of { byte };
byte w, x, z;
active proctype P() { { d_step { c?x; z = 1 }; z = 3 } unless { w == 1 -> z = 2 } }
active proctype Q() { end: c!1; c!2 }
active proctype W() { w = 1 }
