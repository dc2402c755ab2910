-- Transaction commit as in tcommit.pml, for Rumur (Murphi): the resource managers are a scalarset, so that of states that are permutations of each other one is stored.
--
--   rumur --deadlock-detection off --output tcommit.c tcommit.m && cc -O2 -march=native -mcx16 -o tcommit tcommit.c -lpthread && ./tcommit
--
-- `--symmetry-reduction off` counts all of them.
const N: 3;
type
  manager: scalarset(N);
  state: enum { working, prepared, committed, aborted };
var
  rm: array [manager] of state;

startstate begin
  for m: manager do rm[m] := working; end;
end;

ruleset m: manager do
  rule "prepare" rm[m] = working ==> begin
    rm[m] := prepared;
  end;
  rule "commit" rm[m] = prepared & forall other: manager do rm[other] = prepared | rm[other] = committed end ==> begin
    rm[m] := committed;
  end;
  rule "abort" (rm[m] = working | rm[m] = prepared) & forall other: manager do rm[other] != committed end ==> begin
    rm[m] := aborted;
  end;
end;

invariant "consistent" forall a: manager do forall b: manager do !(rm[a] = aborted & rm[b] = committed) end end;
