// Two processes call a function that waits for a lock; its frame holds the argument and a local.
// quotient: --raw --all => holds, states 76, transitions 122
// quotient: --raw --symmetry heap => states 76
// quotient: --raw --symmetry exact => states 76
byte lock_, count;
function add(byte n) : byte {
  byte old;
  atomic { lock_ == 0 -> lock_ = 1 };
  old = count;
  count = old + n;
  lock_ = 0;
  return old
}
active [2] proctype P() {
  byte got;
  got = add(_pid + 1);
  assert(got <= 2)
}
