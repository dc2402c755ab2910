// quotient: --raw --all --safety => holds, states 17, transitions 26
// quotient: --all --safety => holds, at most 17 states
/* Several proctypes started in one atomic sequence with different arguments. */
byte s[3];
proctype W(byte i; byte v) { s[i] = v }
proctype Z(byte i) { s[i] = s[i] + 1 }
init { atomic { run W(0, 5); run W(1, 6); run Z(2) } }
