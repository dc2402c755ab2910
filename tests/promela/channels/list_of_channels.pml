// quotient: --raw --all --safety => holds
// why: the grammar allows several initialised channels in one declaration; SPIN 6.5.2 reports a syntax error at the
// comma, because it takes the closing brace for the end of the declaration
/* Two channels in one declaration. */
chan a = [1] of { byte }, b = [2] of { byte };
active proctype P() { a!1; b!2; b!3; assert(full(a) && full(b)) }
