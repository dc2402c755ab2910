// quotient: violated assertion line 14
// Two processes add one to a counter, each in two steps.
byte counter, done;

active [2] proctype add() {
  byte seen;
  seen = counter;
  counter = seen + 1;
  done++
}

active proctype judge() {
  done == 2;
  assert(counter == 2)
}
