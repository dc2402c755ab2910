// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* A poll with eval and with two fields. */
chan c = [1] of { byte, byte };
byte k = 2;
active proctype P() { c!2,5; assert(c?[eval(k),5]); k++; assert(!(c?[eval(k),5])) }
