// quotient: --raw --all --safety => holds, states 18, transitions 19
// quotient: --all --safety => holds, at most 17 states
/* Bounds and variable are arguments; the second one is listed, since it stands outside. */
byte sum;
inline choose(v, low, high) { select (v : low .. high) }
active proctype A() { byte n; choose(n, 1, 2); sum = n; select (n : 1 .. 2); assert(sum + n != 5) }
