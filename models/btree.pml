/* Updaters of a B*-tree that lock their way down, after R. Bayer and M. Schkolnick, "Concurrency of operations on B-trees"
 * (their first solution), and the second example of R. Iosif, "Symmetry reductions for model checking of concurrent
 * dynamic software".
 *
 * An updater locks the nodes on its path from the root to a leaf. A node that is not full is safe: it will not be split, so
 * nothing above it changes, and the locks above it are given back. Keys are left out: which child an updater goes to is a
 * free choice.
 *
 * -D N=n updaters, -D K=k entries of a node at most, -D D=d levels at most.
 */
#ifndef N
#define N 2
#endif
#ifndef K
#define K 2
#endif
#ifndef D
#define D 2
#endif
#define ROOM (K + 1)     /* one more entry, before a node is split */

typedef Node {
    bit leaf, locked;
    byte n;              /* entries of a leaf, children of an inner node */
    Node &child[ROOM]
}

Node &root;
bit root_locked;         /* the root itself may change */
byte levels = 1;

inline lock(p) { atomic { !p.locked -> p.locked = 1 } }

/* Gives back everything that is locked. */
inline release() {
    do
    :: h > 0 -> d_step { h--; held[h].locked = 0; &held[h] = null }
    :: else -> break
    od;
    if
    :: rooted -> atomic { root_locked = 0; rooted = 0 }
    :: else -> skip
    fi
}

proctype Updater() {
    Node &held[D];       /* locked nodes, the uppermost first */
    byte way[D];         /* which child each of them is */
    byte h, i;
    bit rooted;
    Node &cur, &fresh, &up;

end:
    atomic { !root_locked -> root_locked = 1; rooted = 1 };
    &cur = &root;
    lock(cur);
    do
    :: if
       :: cur.n < K -> release()
       :: else -> skip
       fi;
       d_step { &held[h] = &cur; way[h] = i; h++ };
       if
       :: cur.leaf -> break
       :: else ->
           select(i : 0 .. cur.n - 1);
           &cur = &cur.child[i];
           lock(cur)
       fi
    od;

    if
    :: rooted && levels == D -> goto done      /* the whole path is full, and there is no room for another level */
    :: else -> skip
    fi;
    cur.n++;
    do
    :: cur.n <= K -> break
    :: else ->
        /* Split: the upper half goes to a new node. */
        &fresh = new Node;
        d_step {
            fresh.leaf = cur.leaf;
            i = ROOM / 2;
            do
            :: i < ROOM ->
                &fresh.child[fresh.n] = &cur.child[i];
                &cur.child[i] = null;
                fresh.n++;
                i++
            :: else -> break
            od;
            cur.n = ROOM / 2;
            i = 0
        };
        if
        :: h == 1 ->
            assert(rooted);
            &up = new Node;
            d_step { up.n = 2; &up.child[0] = &cur; &up.child[1] = &fresh; &root = &up; levels++ };
            &up = null;
            &fresh = null;
            break
        :: else ->
            d_step {
                cur.locked = 0;
                h--;
                &held[h] = null;
                &cur = &held[h - 1];
                i = cur.n;
                do
                :: i > way[h] + 1 -> &cur.child[i] = &cur.child[i - 1]; i--
                :: else -> break
                od;
                &cur.child[i] = &fresh;
                &fresh = null;
                cur.n++;
                i = 0;
                way[h] = 0
            }
        fi
    od;
done:
    release();
    &cur = null;
    goto end
}

init {
    byte p;
    d_step { &root = new Node; root.leaf = 1 };
    atomic {
        do
        :: p < N -> run Updater(); p++
        :: else -> break
        od
    }
}
