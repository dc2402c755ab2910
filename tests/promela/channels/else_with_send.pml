// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* else beside a send is taken when the buffer is full. */
chan c = [1] of { byte };
active proctype P() { do :: c!1 :: else -> break od; assert(full(c)) }
