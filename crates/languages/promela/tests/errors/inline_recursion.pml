byte x;
inline f(a) { g(a) }
inline g(b) { x = b; f(b) }
init { f(1) }
