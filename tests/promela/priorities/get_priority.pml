// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* Reading priorities. */
byte p;
active proctype A() priority 4 { p = get_priority(_pid); assert(p == 4); p = _priority; assert(p == 4) }
