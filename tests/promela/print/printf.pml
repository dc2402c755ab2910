// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* printf has no effect on the state. */
byte x;
active proctype P() { printf("start\n"); x = 3; printf("x = %d, %u, %x, %c, %o\n", x, x, x, 65, x) }
