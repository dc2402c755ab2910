/* Two names of one channel are equal. */
chan a = [1] of { byte }, b = [1] of { byte };
active proctype P() { chan v; v = a; assert(v == a && v != b) }
