// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 7 states
/* The same name in two separate blocks is two variables. */
byte out;
active proctype P() { { byte t = 2; out = out + t }; { byte t; t++; out = out + t }; assert(out == 3) }
