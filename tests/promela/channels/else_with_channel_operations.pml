// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* else beside receives is taken when none can proceed. */
chan c = [1] of { byte };
byte n;
active proctype P() { do :: c?1 -> break :: else -> n++; c!1 od; assert(n == 1) }
