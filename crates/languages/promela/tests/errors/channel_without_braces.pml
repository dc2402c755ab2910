chan c = [1] of byte;
chan d = [2] of { unsigned : 3, byte };
chan e = [1] { byte };
