% 4 dining philosophers with 3 tickets; F is a fork (1: taken), T the tickets left. 3: eating.
% Exchanging two philosophers is not a symmetry; rotating all of them is.

p([0,0,0,0],0,0,0,0,3).

% philosopher 1
p([1,P2,P3,P4],F1,F2,F3,F4,T - 1) :- p([0,P2,P3,P4],F1,F2,F3,F4,T), T >= 1.
p([2,P2,P3,P4],1,F2,F3,F4,T) :- p([1,P2,P3,P4],F1,F2,F3,F4,T), F1 = 0.
p([3,P2,P3,P4],F1,1,F3,F4,T) :- p([2,P2,P3,P4],F1,F2,F3,F4,T), F2 = 0.
p([4,P2,P3,P4],0,F2,F3,F4,T) :- p([3,P2,P3,P4],F1,F2,F3,F4,T).
p([5,P2,P3,P4],F1,0,F3,F4,T) :- p([4,P2,P3,P4],F1,F2,F3,F4,T).
p([0,P2,P3,P4],F1,F2,F3,F4,T + 1) :- p([5,P2,P3,P4],F1,F2,F3,F4,T).

% philosopher 2
p([P1,1,P3,P4],F1,F2,F3,F4,T - 1) :- p([P1,0,P3,P4],F1,F2,F3,F4,T), T >= 1.
p([P1,2,P3,P4],F1,1,F3,F4,T) :- p([P1,1,P3,P4],F1,F2,F3,F4,T), F2 = 0.
p([P1,3,P3,P4],F1,F2,1,F4,T) :- p([P1,2,P3,P4],F1,F2,F3,F4,T), F3 = 0.
p([P1,4,P3,P4],F1,0,F3,F4,T) :- p([P1,3,P3,P4],F1,F2,F3,F4,T).
p([P1,5,P3,P4],F1,F2,0,F4,T) :- p([P1,4,P3,P4],F1,F2,F3,F4,T).
p([P1,0,P3,P4],F1,F2,F3,F4,T + 1) :- p([P1,5,P3,P4],F1,F2,F3,F4,T).

% philosopher 3
p([P1,P2,1,P4],F1,F2,F3,F4,T - 1) :- p([P1,P2,0,P4],F1,F2,F3,F4,T), T >= 1.
p([P1,P2,2,P4],F1,F2,1,F4,T) :- p([P1,P2,1,P4],F1,F2,F3,F4,T), F3 = 0.
p([P1,P2,3,P4],F1,F2,F3,1,T) :- p([P1,P2,2,P4],F1,F2,F3,F4,T), F4 = 0.
p([P1,P2,4,P4],F1,F2,0,F4,T) :- p([P1,P2,3,P4],F1,F2,F3,F4,T).
p([P1,P2,5,P4],F1,F2,F3,0,T) :- p([P1,P2,4,P4],F1,F2,F3,F4,T).
p([P1,P2,0,P4],F1,F2,F3,F4,T + 1) :- p([P1,P2,5,P4],F1,F2,F3,F4,T).

% philosopher 4
p([P1,P2,P3,1],F1,F2,F3,F4,T - 1) :- p([P1,P2,P3,0],F1,F2,F3,F4,T), T >= 1.
p([P1,P2,P3,2],F1,F2,F3,1,T) :- p([P1,P2,P3,1],F1,F2,F3,F4,T), F4 = 0.
p([P1,P2,P3,3],1,F2,F3,F4,T) :- p([P1,P2,P3,2],F1,F2,F3,F4,T), F1 = 0.
p([P1,P2,P3,4],F1,F2,F3,0,T) :- p([P1,P2,P3,3],F1,F2,F3,F4,T).
p([P1,P2,P3,5],0,F2,F3,F4,T) :- p([P1,P2,P3,4],F1,F2,F3,F4,T).
p([P1,P2,P3,0],F1,F2,F3,F4,T + 1) :- p([P1,P2,P3,5],F1,F2,F3,F4,T).

assert turn: symmetric p([P1,P2,P3,P4],F1,F2,F3,F4,T) under rotations {(P1,F1),(P2,F2),(P3,F3),(P4,F4)}.
assert half: p([P1,P2,P3,P4],F1,F2,F3,F4,T), (P1 = 3, P2 = 3, P3 = 3 ; P1 = 3, P2 = 3, P4 = 3 ; P1 = 3, P3 = 3, P4 = 3 ; P2 = 3, P3 = 3, P4 = 3) |= false using turn.

% quotient: holds
