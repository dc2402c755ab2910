// Two processes push a node each onto a shared list.
// quotient: --raw --all => holds, states 70, transitions 88
// quotient: --raw --symmetry heap => states 44
// quotient: --raw --symmetry exact => states 44
typedef Node { byte val; Node &next }
Node &head;
proctype P(byte v) {
  Node &n;
  &n = new Node;
  n.val = v;
  atomic { &n.next = &head; &head = &n }
}
init {
  run P(1); run P(2);
  (_nr_pr == 1);
  assert(head.val == 1 || head.val == 2);
  assert(head.next.val + head.val == 3);
  assert(&head.next.next == null)
}
