// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* ?[] asks whether the receive would succeed, without effect. */
chan c = [2] of { byte };
active proctype P() { assert(!(c?[1])); c!1; assert(c?[1] && !(c?[2])); c?1; assert(!(c?[1])) }
