// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* The same with a loop. */
chan c = [0] of { byte };
byte x, y;
active proctype S() { c!1; y = 1; c!2 }
active proctype R() { d_step { do :: c?x -> break :: y == 1 -> y = 2; break od; y = y + x }; end: c?x }
