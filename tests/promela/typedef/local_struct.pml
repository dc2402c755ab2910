// quotient: --raw --all --safety => holds, states 21, transitions 32
// quotient: --all --safety => holds, at most 7 states
/* Structures local to each process. */
typedef pair { byte x; byte y };
active [2] proctype P() { pair p; p.x = _pid; p.y = p.x + 1; assert(p.y == _pid + 1) }
