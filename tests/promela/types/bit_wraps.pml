// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* A bit keeps the lowest bit of what is assigned. */
bit b;
active proctype P() { b = 1; b = 2; b = 3; b++; b-- }
