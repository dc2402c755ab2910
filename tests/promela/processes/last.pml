// expect: states=18 transitions=21 errors=none
// spin-default: states=18
/* _last is the process that moved last. */
byte x;
active proctype A() { x = 1; (_last == 1) -> x = 3 }
active proctype B() { (x == 1) -> x = 2 }
