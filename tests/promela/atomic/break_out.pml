// expect: states=16 transitions=23 errors=none
// spin-default: states=19
/* break out of a loop from inside an atomic sequence. */
byte x;
active proctype P() { do :: atomic { x < 3 -> x++; if :: x == 3 -> break :: else fi } od; x = 9 }
active proctype Q() { skip }
