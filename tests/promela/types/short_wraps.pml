// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* A short is a signed 16-bit number. */
short s = 32767;
active proctype P() { s++; assert(s == -32768); s--; assert(s == 32767); s = 65535; assert(s == -1) }
