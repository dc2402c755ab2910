// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* A byte is never negative in a comparison. */
byte b;
active proctype P() { b--; assert(b > -1); assert(b != -1); assert(b == 255) }
