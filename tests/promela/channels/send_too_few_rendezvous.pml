// expect: states=1 transitions=0 errors=channel
// spin-default: states=1
/* The same by rendezvous, where nobody receives. */
chan c = [0] of { byte, byte };
active proctype W() { end: c!3 }
