// expect: states=4 transitions=3 errors=none
// spin-default: states=3
/* local only promises that one process uses the variable. */
local byte x;
active proctype P() { x = 1; x = 2 }
