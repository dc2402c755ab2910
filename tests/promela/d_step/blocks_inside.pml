// quotient: --raw --all --safety => violated d_step
// why: blocking inside a deterministic step is an error; SPIN ends the search there, so its counts say nothing
/* The second statement of a deterministic step cannot proceed. */
byte x;
active proctype P() { d_step { x = 1; (x == 2); x = 3 } }
