// Requests are sent by reference with a channel for the answer; both are made by the client.
// expect: raw=151/288 heap=85 exact=85 errors=none
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
