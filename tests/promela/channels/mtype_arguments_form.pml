// quotient: --raw --all --safety => holds, states 10, transitions 10
// quotient: --all --safety => holds, at most 10 states
/* c!m(args) is c!m,args. */
mtype = { data, ack };
chan c = [1] of { mtype, byte };
active proctype S() { c!data(9); c!ack,0 }
active proctype R() { byte v; c?data(v); assert(v == 9); c?ack(v); assert(v == 0) }
