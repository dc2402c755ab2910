/* Both fields into one variable: the later one stays. */
chan c = [1] of { byte, byte };
active proctype P() { byte x; c!1,2; c?x,x; assert(x == 2) }
