// expect: states=5 transitions=4 errors=deadlock
// spin-default: states=5
/* Either receiver may take the message. */
chan c = [0] of { byte };
byte who;
active proctype S() { c!1 }
active [2] proctype R() { c?_; who = _pid; end: false }
