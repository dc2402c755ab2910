// quotient: --raw --all --safety => holds, states 22, transitions 23
// quotient: --all --safety => holds, at most 22 states
/* A poll as a guard of a loop with another process. */
chan c = [1] of { bit };
byte waited;
active proctype S() { c!1 }
active proctype R() { do :: c?[1] -> c?1; break :: !(c?[1]) && waited < 2 -> waited++ od }
