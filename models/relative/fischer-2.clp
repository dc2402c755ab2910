% Fischer's timed mutual exclusion with 2 processes: T is the time since the last step, K the process
% that set it last. 1: set K within one unit; 2: wait for two units; 3: critical section.

p([0,0],0,0,0).

% process 1
p([1,P2],0,T2,K) :- p([0,P2],T1,T2,K), K = 0.
p([2,P2],0,T2,1) :- p([1,P2],T1,T2,K), T1 <= 1.
p([3,P2],T1,T2,K) :- p([2,P2],T1,T2,K), T1 >= 2, K = 1.
p([0,P2],T1,T2,K) :- p([2,P2],T1,T2,K), T1 >= 2, K <> 1.
p([0,P2],T1,T2,0) :- p([3,P2],T1,T2,K).

% process 2
p([P1,1],T1,0,K) :- p([P1,0],T1,T2,K), K = 0.
p([P1,2],T1,0,2) :- p([P1,1],T1,T2,K), T2 <= 1.
p([P1,3],T1,T2,K) :- p([P1,2],T1,T2,K), T2 >= 2, K = 2.
p([P1,0],T1,T2,K) :- p([P1,2],T1,T2,K), T2 >= 2, K <> 2.
p([P1,0],T1,T2,0) :- p([P1,3],T1,T2,K).

% time passes, but not beyond the unit within which K must be set
p([P1,P2],T1 + 1,T2 + 1,K) :- p([P1,P2],T1,T2,K), (P1 <> 1 ; T1 < 1), (P2 <> 1 ; T2 < 1).

assert swap: symmetric p([P1,P2],T1,T2,K) under permutations {(P1,T1),(P2,T2)} with ids K from 1.
assert nonneg: p([P1,P2],T1,T2,K) |= T1 >= 0, T2 >= 0.
assert mutex: p([P1,P2],T1,T2,K), (P1 = 3, P2 = 3) |= false using nonneg, swap.

% quotient: holds
