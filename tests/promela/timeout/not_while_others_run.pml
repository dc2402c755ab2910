// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* No timeout while another process can move. */
byte x;
active proctype P() { timeout -> assert(x == 3) }
active proctype Q() { x++; x++; x++ }
