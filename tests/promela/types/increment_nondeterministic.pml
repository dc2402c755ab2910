// expect: states=54 transitions=82 errors=none
// spin-default: states=54
/* Two writers race on a byte; every interleaving is explored. */
byte x;
active [2] proctype P() { byte t; t = x; t++; x = t; assert(x <= 2) }
