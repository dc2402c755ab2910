// expect: states=3 transitions=2 errors=none
// spin-default: states=3
/* Several named properties. */
byte x;
ltl a { <> (x == 1) }
ltl b { (x == 0) U (x == 1) }
active proctype P() { x = 1 }
