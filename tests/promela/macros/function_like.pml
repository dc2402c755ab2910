// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* A macro with arguments. */
#define SQUARE(n) ((n) * (n))
#define MAX(p, q) ((p) > (q) -> (p) : (q))
byte x;
active proctype P() { x = SQUARE(2 + 1); assert(x == 9); x = MAX(x, 4); assert(x == 9) }
