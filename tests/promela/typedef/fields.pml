// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* A structure with fields of several types. */
typedef rec { byte b; int i; bool f };
rec r;
active proctype P() { r.b = 255; r.b++; r.i = -1; r.f = true; assert(r.b == 0 && r.i == -1 && r.f) }
