// expect: states=9 transitions=10 errors=channel
// spin-default: states=9
/* A send with fewer values than the message has fields. */
chan c = [1] of { byte, byte };
byte x, y;
proctype W(chan p) { p!3 }
init { run W(c); c?x,y; assert(x == 3 && y == 0) }
