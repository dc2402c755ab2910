// quotient: --raw --all --safety => holds, states 7, transitions 8
// quotient: --all --safety => holds, at most 7 states
/* A deterministic step is one transition. */
byte x, y;
active [2] proctype P() { d_step { x = x + 1; y = x; x = y + 1 } }
