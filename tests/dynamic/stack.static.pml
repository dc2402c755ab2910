// stack.pml with addresses written out: the lowest free cell is taken.
typedef Node { byte val; byte next }
Node cell[4];
bit used[4];
byte top;
byte sum;
inline take(n) {
  d_step {
    if :: !used[1] -> n = 1 :: else -> if :: !used[2] -> n = 2 :: else -> n = 3 fi fi;
    used[n] = 1
  }
}
active [2] proctype P() {
  byte n; byte i;
  do
  :: i < 2 ->
     take(n);
     atomic { cell[n].val = _pid + 1; cell[n].next = top; top = n; n = 0 };
     atomic { n = top; top = cell[n].next; cell[n].next = 0 };
     sum = sum + cell[n].val;
     d_step { used[n] = 0; cell[n].val = 0; cell[n].next = 0; n = 0 };
     i++
  :: else -> break
  od
}
// quotient: --raw --all => holds, states 765, transitions 1456
