// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* Decrementing a byte at zero gives 255. */
byte x;
active proctype P() { x--; assert(x == 255); x = -1; assert(x == 255); x = 300; assert(x == 44) }
