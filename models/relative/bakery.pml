/* The bakery with N processes. `quotient check` needs a bound on the tickets; `quotient prove` reads them
   as unbounded integers. Try:

     quotient prove --certificate out.json models/relative/bakery.pml
     quotient check --relative out.json --no-deadlock --max-depth 40 models/relative/bakery.pml */

byte t[2];

active [2] proctype customer() {
    do
    :: t[_pid] = t[1 - _pid] + 1;
       (t[_pid] < t[1 - _pid] || t[1 - _pid] == 0);
critical: t[_pid] = 0
    od
}

/*@ assert swap: symmetric p([P0,P1],T_0,T_1) under permutations {(P0,T_0),(P1,T_1)}.
    assert nonneg: p([P0,P1],T_0,T_1) |= T_0 >= 0, T_1 >= 0. */

// quotient: holds
