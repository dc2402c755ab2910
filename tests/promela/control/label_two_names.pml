// quotient: --raw --all --safety => holds, states 9, transitions 8
// quotient: --all --safety => holds, at most 9 states
/* Two labels on one statement. */
byte x;
active proctype P() { a: b: x++; if :: x < 2 -> goto a :: x == 2 -> goto b :: else fi; assert(x == 3) }
