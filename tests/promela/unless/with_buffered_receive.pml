// quotient: --raw --all --safety => holds, states 19, transitions 25
// quotient: --all --safety => holds, at most 19 states
/* A receive as the escape. */
chan c = [1] of { byte };
byte x;
active proctype P() { do :: { x < 2 -> x++; x-- } unless { c?1 -> break } od; assert(empty(c)) }
active proctype Q() { c!1 }
