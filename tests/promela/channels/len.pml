// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* len counts the messages. */
chan c = [3] of { bit };
active proctype P() { assert(len(c) == 0); c!0; c!1; assert(len(c) == 2); c?0; assert(len(c) == 1) }
