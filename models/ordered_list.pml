/* An ordered list, updated by an inserter and an extractor that lock node by node ("hand over hand").
 *
 * After the first example of R. Iosif, "Symmetry reductions for model checking of concurrent dynamic software". Nodes are
 * objects: what the extractor unlinks is gone as soon as nobody refers to it. The paper does not print its model: of several
 * readings (which keys, in which order) this is the one whose growth came nearest to the paper's.
 *
 * The inserter adds the keys 1 to L, the extractor takes them out, each of them once and in this order; the extractor passes
 * over a key that is not there yet.
 *
 * -D L=n: the list has at most n nodes. -D BUG: the extractor does not lock the node it unlinks.
 */
#ifndef L
#define L 3
#endif

typedef Node { byte key; bit locked; Node &next }

Node &head;    /* a node without a key, in front of the first */

inline lock(p)   { atomic { !p.locked -> p.locked = 1 } }
inline unlock(p) { p.locked = 0 }

/* Afterwards `prev` is locked and is the last node with a smaller key. */
inline find(prev, cur, k) {
    lock(head);
    &prev = &head;
    do
    :: &prev.next != null && prev.next.key < k ->
        &cur = &prev.next;
        lock(cur);
        unlock(prev);
        &prev = &cur;
        &cur = null
    :: else -> break
    od
}

proctype Inserter() {
    Node &prev, &cur, &fresh;
    byte k;
    do
    :: k == L -> break
    :: k < L -> k++;
        find(prev, cur, k);
        if
        :: &prev.next != null && prev.next.key == k -> skip
        :: else ->
            &fresh = new Node;
            fresh.key = k;
            &fresh.next = &prev.next;
            assert(&fresh.next == null || fresh.next.key > k);
            &prev.next = &fresh;
            &fresh = null
        fi;
        unlock(prev);
        &prev = null
    od
}

proctype Extractor() {
    Node &prev, &cur;
    byte k;
    do
    :: k == L -> break
    :: k < L -> k++;
        find(prev, cur, k);
        if
        :: &prev.next != null && prev.next.key == k ->
            &cur = &prev.next;
#ifndef BUG
            lock(cur);
#endif
            &prev.next = &cur.next;
#ifdef BUG
            delete(&cur);
#endif
            &cur = null
        :: else -> skip
        fi;
        unlock(prev);
        &prev = null
    od
}

init {
    &head = new Node;
    atomic { run Inserter(); run Extractor() }
}

// quotient: holds
// quotient: -D L=2 => holds
// quotient: -D L=2 -D BUG=1 => violated dangling
