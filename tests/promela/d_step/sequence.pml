// expect: states=7 transitions=8 errors=none
// spin-default: states=7
/* A deterministic step is one transition. */
byte x, y;
active [2] proctype P() { d_step { x = x + 1; y = x; x = y + 1 } }
