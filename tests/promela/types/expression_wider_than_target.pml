// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* Expressions are computed as int, cut only when stored. */
byte b = 200; byte c;
active proctype P() { assert(b + b == 400); c = b + b; assert(c == 144); assert(b * b == 40000) }
