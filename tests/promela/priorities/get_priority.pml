// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* Reading priorities. */
byte p;
active proctype A() priority 4 { p = get_priority(_pid); assert(p == 4); p = _priority; assert(p == 4) }
