/* Updaters of a B*-tree that lock their way down, after R. Bayer and M. Schkolnick, "Concurrency of operations on B-trees"
 * (their first solution), and the second example of R. Iosif, "Symmetry reductions for model checking of concurrent
 * dynamic software". The paper does not print its model: of several readings (when nodes are allocated, how full they are at
 * first, what is one step) this is the one whose counts came nearest to the paper's.
 *
 * At first there is one level less than there may be, and all nodes are full, except that there is room for one entry in all
 * leaves but the first of each parent. An updater first makes the nodes that splitting a whole path may need, each with a
 * page number of its own. Then it locks the nodes on its path from the root to a leaf. A node that is not full is safe: it
 * will not be split, so nothing above it changes, and the locks above it are given back. Keys are left out: which child an
 * updater goes to is a free choice.
 *
 * -D N=n updaters, -D K=k entries of a node at most, -D D=d levels at most (2, 3 or 4).
 */
#ifndef N
#define N 2
#endif
#ifndef K
#define K 2
#endif
#ifndef D
#define D 3
#endif
#define ROOM (K + 1)     /* one more entry, before a node is split */

typedef Node {
    bit leaf, locked;
    byte page;           /* where it is kept; 0 for the nodes of the tree at first */
    byte n;              /* entries of a leaf, children of an inner node */
    Node &child[ROOM]
}

Node &root;
bit root_locked;         /* the root itself may change */
byte levels = D - 1;

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

/* Takes a node from those made before; makes one if there is none left. */
inline take(p) {
    if
    :: m > 0 -> m--; &p = &spare[m]; &spare[m] = null
    :: else -> &p = new Node
    fi
}

proctype Updater() {
    Node &spare[D];      /* nodes for splitting */
    Node &held[D];       /* locked nodes, the uppermost first */
    byte way[D];         /* which child each of them is */
    byte m, h, i;
    bit rooted;
    Node &cur, &fresh, &up;

    do
    :: m < D -> &spare[m] = new Node; d_step { spare[m].page = _pid * D + m; m++ }
    :: else -> break
    od;

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
        take(fresh);
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
        i = 0;
        if
        :: h == 1 ->
            assert(rooted);
            d_step {
                take(up);
                up.n = 2;
                &up.child[0] = &cur;
                &up.child[1] = &fresh;
                &root = &up;
                levels++;
                &up = null;
                &fresh = null
            };
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
    release()
}

init {
    byte p, q;
    atomic {
        &root = new Node;
        root.n = K;
        root.leaf = (D == 2);
#if D > 2
        do
        :: p < K ->
            &root.child[p] = new Node;
            root.child[p].n = (D > 3 || p == 0 -> K : K - 1);
            root.child[p].leaf = (D == 3);
#if D > 3
            q = 0;
            do
            :: q < K ->
                &root.child[p].child[q] = new Node;
                root.child[p].child[q].n = (q == 0 -> K : K - 1);
                root.child[p].child[q].leaf = 1;
                q++
            :: else -> break
            od;
#endif
            p++
        :: else -> break
        od;
        p = 0;
#endif
        do
        :: p < N -> run Updater(); p++
        :: else -> break
        od
    }
}

// quotient: holds
