// expect: states=40 transitions=81 errors=none
// spin-default: states=40
/* Each process writes its own cell. */
byte cell[3];
active [3] proctype P() { cell[_pid] = 1; cell[_pid] = 2 }
