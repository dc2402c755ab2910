% A readers/writers lock for any number of threads: p(threads that read, threads that write).
p(0,0).
p(R+1,W) :- p(R,W), W = 0.
p(R-1,W) :- p(R,W), R >= 1.
p(R,W+1) :- p(R,W), W = 0, R = 0.
p(R,W-1) :- p(R,W), W >= 1.
assert alone: p(R,W), W >= 1 |= R = 0, W = 1.

% quotient: holds
