// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* A short is a signed 16-bit number. */
short s = 32767;
active proctype P() { s++; assert(s == -32768); s--; assert(s == 32767); s = 65535; assert(s == -1) }
