// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* A byte is never negative in a comparison. */
byte b;
active proctype P() { b--; assert(b > -1); assert(b != -1); assert(b == 255) }
