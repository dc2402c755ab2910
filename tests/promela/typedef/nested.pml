// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* A structure inside a structure. */
typedef inner { byte x; byte y };
typedef outer { inner p; inner q; byte z };
outer o;
active proctype P() { o.p.x = 1; o.q.y = o.p.x + 1; o.z = o.q.y + 1; assert(o.p.y == 0 && o.z == 3) }
