// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* ??<> copies a matching message and leaves it. */
chan c = [2] of { byte, byte };
active proctype P() { byte v; c!1,7; c!2,8; c??<2,v>; assert(v == 8 && len(c) == 2); c?1,v; assert(v == 7) }
