// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* A message with six fields of different types. */
mtype = { m };
chan c = [1] of { mtype, bit, byte, short, int, bool };
active proctype P() { bit a; byte b; short s; int i; bool t; c!m(1, 200, -200, 70000, true); c?m(a, b, s, i, t); assert(a && b == 200 && s == -200 && i == 70000 && t) }
