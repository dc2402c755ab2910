// quotient: --raw --all --safety => holds, states 3, transitions 2
// quotient: --all --safety => holds, at most 3 states
/* defined() and nested conditionals. */
#define MODE 2
#if defined(MODE) && MODE == 1
byte x = 1;
#elif MODE == 2
#if 0
byte x = 9;
#else
byte x = 2;
#endif
#endif
active proctype P() { assert(x == 2) }
