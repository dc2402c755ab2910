// quotient: --raw --all --safety => violated assertion, states 5, transitions 4
// quotient: --all --safety => violated assertion, at most 5 states
/* A deterministic step that begins with a rendezvous receive. */
chan c = [0] of { byte };
byte got;
active proctype S() { end: c!5 }
active proctype R() { byte x; end: d_step { c?x; got = x }; assert(got != 5) }
