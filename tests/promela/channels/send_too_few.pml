// quotient: --raw --all --safety => violated channel, states 9, transitions 10
// quotient: --all --safety => violated channel, at most 9 states
/* A send with fewer values than the message has fields. */
chan c = [1] of { byte, byte };
byte x, y;
proctype W(chan p) { p!3 }
init { run W(c); c?x,y; assert(x == 3 && y == 0) }
