// expect: states=7 transitions=7 errors=deadlock
// spin-default: states=7
/* It does not mark the choice: P waits there in an invalid end state. */
chan c = [0] of { byte };
active proctype P() { byte x; do :: end: c?x -> x = 0 od }
active proctype Q() { c!4; c!3 }
