// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* else beside a send is taken when the buffer is full. */
chan c = [1] of { byte };
active proctype P() { do :: c!1 :: else -> break od; assert(full(c)) }
