// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* A narrow unsigned field wraps inside its structure. */
typedef hdr { unsigned seq : 2; byte size };
hdr h;
active proctype P() { h.size = 9; h.seq = 3; h.seq++; assert(h.seq == 0 && h.size == 9) }
