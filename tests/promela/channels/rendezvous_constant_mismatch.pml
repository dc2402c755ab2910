// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* A rendezvous needs matching constants on both sides. */
chan c = [0] of { byte, byte };
active proctype S() { c!1,7 }
active proctype R() { byte x; if :: c?2,x -> assert(false) :: c?1,x -> assert(x == 7) fi }
