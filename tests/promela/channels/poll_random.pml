// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* ??[] looks at the whole buffer. */
chan c = [2] of { byte };
active proctype P() { c!1; c!2; assert(c??[2] && !(c?[2]) && !(c??[3])) }
