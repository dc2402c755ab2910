// expect: states=23 transitions=33 errors=none
// spin-default: states=23
/* An unless as the body of an option, entered again and again. */
byte x; bit e;
active proctype P() { do :: { x = 1; x = 0 } unless { e -> e = 0 } :: x == 0 -> break od }
active proctype Q() { e = 1 }
