// quotient: --raw --all --safety => violated deadlock, states 3, transitions 2
// quotient: --all --safety => violated deadlock, at most 3 states
/* Without a receiver a rendezvous send is never executable. */
chan c = [0] of { byte };
active proctype S() { c!5 }
active proctype T() { skip }
