// quotient: --raw --all --safety => holds, states 30, transitions 48
// quotient: --all --safety => holds, at most 30 states
/* Two processes poll each other with else. */
bit a, b;
active proctype P() { do :: b -> break :: else -> a = 1 od }
active proctype Q() { do :: a -> break :: else -> b = 1 od }
