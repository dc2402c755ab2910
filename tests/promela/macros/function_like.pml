// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* A macro with arguments. */
#define SQUARE(n) ((n) * (n))
#define MAX(p, q) ((p) > (q) -> (p) : (q))
byte x;
active proctype P() { x = SQUARE(2 + 1); assert(x == 9); x = MAX(x, 4); assert(x == 9) }
