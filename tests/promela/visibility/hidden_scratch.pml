/* A hidden scratch variable written and read within one atomic sequence. */
hidden byte t;
byte a = 1, b = 2;
active proctype P() { atomic { t = a; a = b; b = t }; assert(a == 2 && b == 1) }
