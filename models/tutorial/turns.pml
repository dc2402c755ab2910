// quotient: violated ltl
// quotient: --fair => holds
// Two processes work in turns, for ever, beside one that never waits.
bool turn;

active [2] proctype worker() {
  do
  :: turn == _pid -> turn = !turn
  od
}

active proctype idle() {
  do
  :: skip
  od
}

ltl again { [] <> (turn == 1) }
