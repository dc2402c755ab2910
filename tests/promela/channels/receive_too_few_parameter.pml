// expect: states=7 transitions=6 errors=channel
// spin-default: states=7
/* The same on a channel that is known only when it is used. */
chan c = [1] of { byte, byte };
byte x;
proctype R(chan p) { p?x; x = 5 }
init { run R(c); c!1,2 }
