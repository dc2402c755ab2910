-- Dining philosophers as in models/phils.pml, for Rumur (Murphi): every state, without deadlock detection.
--
--   rumur --deadlock-detection off --output phils.c phils.m && cc -O2 -march=native -o phils phils.c -lpthread && ./phils
const N: 8;
type
  place: 0 .. N - 1;
  step: enum { thinking, one_fork, eating, puts_left };
var
  taken: array [place] of boolean;
  at: array [place] of step;

startstate begin
  for p: place do
    taken[p] := false;
    at[p] := thinking;
  end;
end;

ruleset p: place do
  rule "takes the left fork" at[p] = thinking & !taken[p] ==> begin
    taken[p] := true;
    at[p] := one_fork;
  end;
  rule "takes the right fork" at[p] = one_fork & !taken[(p + 1) % N] ==> begin
    taken[(p + 1) % N] := true;
    at[p] := eating;
  end;
  rule "puts the right fork back" at[p] = eating ==> begin
    taken[(p + 1) % N] := false;
    at[p] := puts_left;
  end;
  rule "puts the left fork back" at[p] = puts_left ==> begin
    taken[p] := false;
    at[p] := thinking;
  end;
end;
