// Requests are sent by reference with a channel for the answer; both are made by the client.
// quotient: --raw --all => holds, states 151, transitions 288
// quotient: --raw --symmetry heap => states 85
// quotient: --raw --symmetry exact => states 85
typedef Request { byte n; chan &answer }
chan server = [2] of { Request & };
active [2] proctype Client() {
  Request &r; byte got;
  atomic { &r = new Request; r.n = _pid + 1; &r.answer = new chan = [1] of { byte } };
  server!&r;
  r.answer?got;
  assert(got == 2 * (_pid + 1))
}
active proctype Server() {
  Request &q;
end: do
  :: server?&q ->
     q.answer!q.n * 2;
     &q = null
  od
}
