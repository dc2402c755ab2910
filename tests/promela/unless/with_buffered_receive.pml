// expect: states=19 transitions=25 errors=none
// spin-default: states=19
/* A receive as the escape. */
chan c = [1] of { byte };
byte x;
active proctype P() { do :: { x < 2 -> x++; x-- } unless { c?1 -> break } od; assert(empty(c)) }
active proctype Q() { c!1 }
