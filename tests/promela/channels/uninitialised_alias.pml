// quotient: --raw --all --safety => holds, states 11, transitions 10
// quotient: --all --safety => holds, at most 11 states
/* A channel variable without initialiser takes a value by assignment from an array of channels. */
chan pool[2] = [1] of { byte };
byte pick;
active proctype P() { chan v; if :: pick = 0 :: pick = 1 fi; v = pool[pick]; v!7; assert(len(pool[pick]) == 1 && len(pool[1 - pick]) == 0) }
