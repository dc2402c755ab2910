// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* ??[] looks at the whole buffer. */
chan c = [2] of { byte };
active proctype P() { c!1; c!2; assert(c??[2] && !(c?[2]) && !(c??[3])) }
