// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* #if, #ifdef, #else and #undef. */
#define A 2
#if A > 1
byte x = 1;
#else
byte x = 50;
#endif
#ifdef B
byte y = 60;
#else
byte y = 2;
#endif
#undef A
#ifndef A
#define A 3
#endif
active proctype P() { assert(x == 1 && y == 2); x = A }
