// quotient: --raw --all --safety => violated deadlock, states 5, transitions 4
// quotient: --all --safety => violated deadlock, at most 5 states
/* Either receiver may take the message. */
chan c = [0] of { byte };
byte who;
active proctype S() { c!1 }
active [2] proctype R() { c?_; who = _pid; end: false }
