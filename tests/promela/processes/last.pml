// quotient: --raw --all --safety => holds, states 18, transitions 21
// quotient: --all --safety => holds, at most 18 states
/* _last is the process that moved last. */
byte x;
active proctype A() { x = 1; (_last == 1) -> x = 3 }
active proctype B() { (x == 1) -> x = 2 }
