// quotient: --raw --all --safety => holds, states 20, transitions 26
// quotient: --all --safety => holds, at most 20 states
/* An endless loop as the main sequence. */
bit stop, b;
active proctype P() { { do :: b = 1 - b od } unless { stop -> skip }; assert(stop) }
active proctype Q() { stop = 1 }
