/* Read-copy-update: readers walk a list without locks while a writer replaces its first node by a changed copy and deletes
 * the old one once every reader that may still stand on it has left.
 *
 * -D READERS=n, -D LENGTH=n nodes, -D UPDATES=n replacements. -D NO_GRACE: the writer does not wait, and a reader uses a deleted node.
 */
#ifndef READERS
#define READERS 2
#endif
#ifndef LENGTH
#define LENGTH 2
#endif
#ifndef UPDATES
#define UPDATES 2
#endif

typedef Node { byte version; Node &next }

Node &head;
bit reading[READERS];

proctype Reader(byte me) {
    Node &p;
    byte seen, last;
end: do
    :: reading[me] = 1;
        &p = &head;
        seen = 0;
        assert(p.version >= last);        /* versions never go back */
        last = p.version;
        do
        :: &p != null -> seen++; &p = &p.next
        :: else -> break
        od;
        assert(seen == LENGTH);
        reading[me] = 0
    od
}

proctype Writer() {
    Node &old, &copy;
    byte i, updates;
    do
    :: updates < UPDATES ->
        &old = &head;
        &copy = new Node;
        copy.version = old.version + 1;
        &copy.next = &old.next;
        &head = &copy;
        &copy = null;
#ifndef NO_GRACE
        i = 0;
        do
        :: i < READERS -> !reading[i]; i++
        :: else -> break
        od;
#endif
        delete(&old);
        &old = null;
        updates++
    :: else -> break
    od
}

init {
    Node &n;
    byte i;
    atomic {
        do
        :: i < LENGTH ->
            &n = new Node;
            &n.next = &head;
            &head = &n;
            i++
        :: else -> break
        od;
        &n = null;
        i = 0;
        do
        :: i < READERS -> run Reader(i); i++
        :: else -> break
        od;
        run Writer()
    }
}

// quotient: holds
// quotient: -D READERS=1 => holds
// quotient: -D READERS=1 -D NO_GRACE=1 => violated dangling
