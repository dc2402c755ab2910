// quotient: --raw --all --safety => holds, states 22, transitions 29
// quotient: --all --safety => holds, at most 15 states
/* The escape is tested before every statement of the main sequence. */
bit stop; byte x;
active proctype P() { { x = 1; x = 2; x = 3 } unless { stop; x = 9 } }
active proctype Q() { stop = 1 }
