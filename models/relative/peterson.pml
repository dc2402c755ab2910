/* Peterson's algorithm for N processes, with the proof that processes can be exchanged:

     quotient prove --certificate out.json models/relative/peterson.pml
     quotient check --relative out.json models/relative/peterson.pml */

#define N 3

byte q[N];       /* the level a process has reached */
byte v[N];       /* the process that came last to a level, 1 to N; v[0] is not used */
byte inside;

active [N] proctype process() {
    do
    :: q[_pid] = 1;
       v[1] = _pid + 1;
       ((q[0] < 1 || _pid == 0) && (q[1] < 1 || _pid == 1) && (q[2] < 1 || _pid == 2) || v[1] != _pid + 1);
       q[_pid] = 2;
       v[2] = _pid + 1;
       ((q[0] < 2 || _pid == 0) && (q[1] < 2 || _pid == 1) && (q[2] < 2 || _pid == 2) || v[2] != _pid + 1);
       inside++;
       assert(inside == 1);
       inside--;
       q[_pid] = 0
    od
}

/*@ assert swap: symmetric p([P0,P1,P2],Q_0,Q_1,Q_2,V_0,V_1,V_2,Inside)
        under permutations {(P0,Q_0),(P1,Q_1),(P2,Q_2)} with ids V_1, V_2 from 1. */

// quotient: holds
