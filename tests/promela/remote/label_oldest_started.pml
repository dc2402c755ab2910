// quotient: --raw --all --safety => holds, states 64, transitions 100
// quotient: --all --safety => holds, at most 64 states
/* Nobody is at the label before the first process has started. */
byte x;
proctype P(byte n) { x++; L: x = x * n }
active proctype Q() { assert(!P@L); run P(1); run P(0); end: P@L; x = 20 }
