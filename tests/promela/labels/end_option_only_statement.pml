// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* Where the statement leads back to the choice, the choice is marked. */
chan c = [0] of { byte };
active proctype P() { byte x; do :: end: c?x od }
active proctype Q() { c!4; c!3 }
