// quotient: --raw --all --safety => holds, states 18, transitions 20
// quotient: --all --safety => holds, at most 18 states
/* A sent value is computed at the time of sending. */
chan c = [2] of { byte };
byte n = 1;
active proctype S() { c!n * 10; c!n + 1 }
active proctype W() { n = 2 }
