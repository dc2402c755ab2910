// expect: states=8 transitions=7 errors=none
// spin-default: states=5
/* A jump to the end of the process. */
byte x;
active proctype P() { if :: x = 1; goto fin :: x = 2 fi; x = 3; fin: skip }
