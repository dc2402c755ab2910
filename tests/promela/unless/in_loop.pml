// quotient: --raw --all --safety => holds, states 23, transitions 33
// quotient: --all --safety => holds, at most 23 states
/* An unless as the body of an option, entered again and again. */
byte x; bit e;
active proctype P() { do :: { x = 1; x = 0 } unless { e -> e = 0 } :: x == 0 -> break od }
active proctype Q() { e = 1 }
