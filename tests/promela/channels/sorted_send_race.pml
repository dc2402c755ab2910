// quotient: --raw --all --safety => holds, states 12, transitions 12
// quotient: --all --safety => holds, at most 12 states
/* Sorted sends of two processes leave one order. */
chan c = [2] of { byte };
active [2] proctype S() { c!!5 - _pid }
active proctype R() { byte x; (len(c) == 2); c?x; assert(x == 4); c?x; assert(x == 5) }
