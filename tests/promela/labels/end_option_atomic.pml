// quotient: --raw --all --safety => holds, states 3, transitions 2
// quotient: --all --safety => holds, at most 3 states
/* On an atomic sequence it marks a state inside; when the sequence blocks there, that is a valid end. */
chan c = [0] of { byte };
active proctype P() { byte x; do :: end: atomic { c?x; x == 9 } od }
active proctype Q() { c!4 }
