// call.pml with the frame written out: it is entered and left in steps of their own.
byte lock_, count;
active [2] proctype P() {
  byte got;
  bit inside; byte n, old;
  d_step { inside = 1; n = _pid + 1 };
  atomic { lock_ == 0 -> lock_ = 1 };
  old = count;
  count = old + n;
  lock_ = 0;
  d_step { got = old; inside = 0; n = 0; old = 0 };
  assert(got <= 2)
}
// quotient: --raw --all => holds, states 76, transitions 122
