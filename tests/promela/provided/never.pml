// expect: states=1 transitions=0 errors=deadlock
// spin-default: states=1
/* A clause that never holds leaves the process stuck. */
byte x;
active proctype P() provided (x == 1) { skip }
