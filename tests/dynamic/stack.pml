// Two processes push onto a stack and pop from it; what is popped is deleted, its number is used again.
// quotient: --raw --all => holds, states 765, transitions 1456
// quotient: --raw --symmetry heap => states 435
// quotient: --raw --symmetry exact => states 435
typedef Node { byte val; Node &next }
Node &top;
byte sum;
active [2] proctype P() {
  Node &n; byte i;
  do
  :: i < 2 ->
     &n = new Node;
     atomic { n.val = _pid + 1; &n.next = &top; &top = &n; &n = null };
     atomic { &n = &top; &top = &n.next; &n.next = null };
     sum = sum + n.val;
     atomic { delete(&n); &n = null };
     i++
  :: else -> break
  od
}
