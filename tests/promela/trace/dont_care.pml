// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* Wildcards in a trace. */
chan c = [1] of { byte, byte };
trace { do :: c!_,_; c?_,_ od }
active proctype S() { c!1,2; c!3,4 }
active proctype R() { byte x, y; c?x,y; c?x,y }
