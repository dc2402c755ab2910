// expect: states=3 transitions=2 errors=deadlock
// spin-default: states=3
/* Without a receiver a rendezvous send is never executable. */
chan c = [0] of { byte };
active proctype S() { c!5 }
active proctype T() { skip }
