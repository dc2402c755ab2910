// expect: states=17 transitions=21 errors=none
// spin-default: states=12
/* An atomic sequence as the main sequence. */
byte x; bit e;
active proctype P() { { atomic { x = 1; x = 2 }; x = 3 } unless { e -> x = 9 } }
active proctype Q() { e = 1 }
