// quotient: --raw --all --safety => violated deadlock, states 1, transitions 0
// quotient: --all --safety => violated deadlock, at most 1 states
/* A process does not shake hands with itself. */
chan c = [0] of { byte };
active proctype P() { byte x; if :: c!1 :: c?x fi }
