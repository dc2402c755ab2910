// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* The clause may use _pid. */
byte turn;
active [2] proctype P() provided (turn == _pid) { assert(turn == _pid); turn = 1 - turn }
