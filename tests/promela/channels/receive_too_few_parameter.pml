// quotient: --raw --all --safety => violated channel, states 7, transitions 6
// quotient: --all --safety => violated channel, at most 7 states
/* The same on a channel that is known only when it is used. */
chan c = [1] of { byte, byte };
byte x;
proctype R(chan p) { p?x; x = 5 }
init { run R(c); c!1,2 }
