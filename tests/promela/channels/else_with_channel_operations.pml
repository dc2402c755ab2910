// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* else beside receives is taken when none can proceed. */
chan c = [1] of { byte };
byte n;
active proctype P() { do :: c?1 -> break :: else -> n++; c!1 od; assert(n == 1) }
