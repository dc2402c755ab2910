// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* Wildcards in a trace. */
chan c = [1] of { byte, byte };
trace { do :: c!_,_; c?_,_ od }
active proctype S() { c!1,2; c!3,4 }
active proctype R() { byte x, y; c?x,y; c?x,y }
