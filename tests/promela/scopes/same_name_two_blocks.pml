// expect: states=8 transitions=7 errors=none
// spin-default: states=7
/* The same name in two separate blocks is two variables. */
byte out;
active proctype P() { { byte t = 2; out = out + t }; { byte t; t++; out = out + t }; assert(out == 3) }
