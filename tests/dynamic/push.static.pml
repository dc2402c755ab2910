// push.pml with addresses written out: cell 0 is null, cells are taken in order.
typedef Node { byte val; byte next }
Node cell[3];
byte used, head;
proctype P(byte v) {
  byte n;
  d_step { used++; n = used }
  cell[n].val = v;
  atomic { cell[n].next = head; head = n }
}
init {
  run P(1); run P(2);
  (_nr_pr == 1);
  assert(cell[head].val == 1 || cell[head].val == 2);
  assert(cell[cell[head].next].val + cell[head].val == 3);
  assert(cell[cell[head].next].next == 0)
}
// quotient: --raw --all => holds, states 70, transitions 88
