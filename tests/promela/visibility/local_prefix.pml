// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 3 states
/* local only promises that one process uses the variable. */
local byte x;
active proctype P() { x = 1; x = 2 }
