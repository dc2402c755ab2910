// quotient: --raw --all --safety => holds, states 16, transitions 23
// quotient: --all --safety => holds, at most 19 states
/* break out of a loop from inside an atomic sequence. */
byte x;
active proctype P() { do :: atomic { x < 3 -> x++; if :: x == 3 -> break :: else fi } od; x = 9 }
active proctype Q() { skip }
