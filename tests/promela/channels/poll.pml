// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* ?[] asks whether the receive would succeed, without effect. */
chan c = [2] of { byte };
active proctype P() { assert(!(c?[1])); c!1; assert(c?[1] && !(c?[2])); c?1; assert(!(c?[1])) }
