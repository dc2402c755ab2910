// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* A message field cuts values to its type. */
chan c = [1] of { byte };
active proctype P() { int x; c!260; c?x; assert(x == 4) }
