// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* timeout is executable when nothing else is. */
byte x;
active proctype P() { do :: x == 5 -> break :: timeout -> x = 5 od }
