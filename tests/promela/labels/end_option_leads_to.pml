// quotient: --raw --all --safety => holds, states 3, transitions 2
// quotient: --all --safety => holds, at most 3 states
/* An end label on the first statement of an option marks where that statement leads: here a state in which P may stay. */
chan c = [0] of { byte };
active proctype P() { byte x; do :: end: c?x -> x == 9 od }
active proctype Q() { c!4 }
