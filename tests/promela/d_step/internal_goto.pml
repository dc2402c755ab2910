/* A jump inside a deterministic step. */
byte x;
active proctype P() { d_step { l: x++; if :: x < 3 -> goto l :: else -> skip fi; x = x + 10 }; assert(x == 13) }
