// expect: states=20 transitions=26 errors=none
// spin-default: states=20
/* An endless loop as the main sequence. */
bit stop, b;
active proctype P() { { do :: b = 1 - b od } unless { stop -> skip }; assert(stop) }
active proctype Q() { stop = 1 }
