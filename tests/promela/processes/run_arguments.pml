// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* Arguments are evaluated and cut to the parameter's type when the process starts. */
byte r;
proctype C(byte a; short b; bit c) { assert(a == 4 && b == -1 && c == 1); r = a }
init { int x = 260; run C(x, x - 261, 1) }
