// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* timeout is executable when nothing else is. */
byte x;
active proctype P() { do :: x == 5 -> break :: timeout -> x = 5 od }
