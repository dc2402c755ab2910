// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* len counts the messages. */
chan c = [3] of { bit };
active proctype P() { assert(len(c) == 0); c!0; c!1; assert(len(c) == 2); c?0; assert(len(c) == 1) }
