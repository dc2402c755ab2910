// expect: states=30 transitions=48 errors=none
// spin-default: states=30
/* Two processes poll each other with else. */
bit a, b;
active proctype P() { do :: b -> break :: else -> a = 1 od }
active proctype Q() { do :: a -> break :: else -> b = 1 od }
