// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* show has no effect on the search. */
show byte x;
active proctype P() { show byte y; y = 1; x = y + 1; assert(x == 2) }
