// quotient: --raw --all --safety => violated deadlock, states 7, transitions 7
// quotient: --all --safety => violated deadlock, at most 7 states
/* It does not mark the choice: P waits there in an invalid end state. */
chan c = [0] of { byte };
active proctype P() { byte x; do :: end: c?x -> x = 0 od }
active proctype Q() { c!4; c!3 }
