// quotient: --raw --all --safety => holds, states 20, transitions 25
// quotient: --all --safety => holds, at most 20 states
/* nfull guards a send in another process's presence. */
chan c = [1] of { byte };
byte sent;
active proctype S() { do :: sent < 2 -> nfull(c) -> c!sent; sent++ :: sent == 2 -> break od }
active proctype R() { c?0; c?1 }
