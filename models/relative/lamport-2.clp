% Lamport's fast mutual exclusion with 2 processes; X and Y hold process numbers, 0 for none.
% 11: critical section.

p([0,0],0,0,0,0).

% process 1
p([1,P2],1,B2,X,Y) :- p([0,P2],B1,B2,X,Y).
p([2,P2],B1,B2,1,Y) :- p([1,P2],B1,B2,X,Y).
p([3,P2],B1,B2,X,Y) :- p([2,P2],B1,B2,X,Y), Y <> 0.
p([5,P2],B1,B2,X,Y) :- p([2,P2],B1,B2,X,Y), Y = 0.
p([4,P2],0,B2,X,Y) :- p([3,P2],B1,B2,X,Y).
p([0,P2],B1,B2,X,Y) :- p([4,P2],B1,B2,X,Y), Y = 0.
p([6,P2],B1,B2,X,1) :- p([5,P2],B1,B2,X,Y).
p([7,P2],B1,B2,X,Y) :- p([6,P2],B1,B2,X,Y), X <> 1.
p([11,P2],B1,B2,X,Y) :- p([6,P2],B1,B2,X,Y), X = 1.
p([8,P2],0,B2,X,Y) :- p([7,P2],B1,B2,X,Y).
p([9,P2],B1,B2,X,Y) :- p([8,P2],B1,B2,X,Y), B1 = 0, B2 = 0.
p([10,P2],B1,B2,X,Y) :- p([9,P2],B1,B2,X,Y), Y <> 1.
p([11,P2],B1,B2,X,Y) :- p([9,P2],B1,B2,X,Y), Y = 1.
p([0,P2],B1,B2,X,Y) :- p([10,P2],B1,B2,X,Y), Y = 0.
p([12,P2],B1,B2,X,0) :- p([11,P2],B1,B2,X,Y).
p([0,P2],0,B2,X,Y) :- p([12,P2],B1,B2,X,Y).

% process 2
p([P1,1],B1,1,X,Y) :- p([P1,0],B1,B2,X,Y).
p([P1,2],B1,B2,2,Y) :- p([P1,1],B1,B2,X,Y).
p([P1,3],B1,B2,X,Y) :- p([P1,2],B1,B2,X,Y), Y <> 0.
p([P1,5],B1,B2,X,Y) :- p([P1,2],B1,B2,X,Y), Y = 0.
p([P1,4],B1,0,X,Y) :- p([P1,3],B1,B2,X,Y).
p([P1,0],B1,B2,X,Y) :- p([P1,4],B1,B2,X,Y), Y = 0.
p([P1,6],B1,B2,X,2) :- p([P1,5],B1,B2,X,Y).
p([P1,7],B1,B2,X,Y) :- p([P1,6],B1,B2,X,Y), X <> 2.
p([P1,11],B1,B2,X,Y) :- p([P1,6],B1,B2,X,Y), X = 2.
p([P1,8],B1,0,X,Y) :- p([P1,7],B1,B2,X,Y).
p([P1,9],B1,B2,X,Y) :- p([P1,8],B1,B2,X,Y), B1 = 0, B2 = 0.
p([P1,10],B1,B2,X,Y) :- p([P1,9],B1,B2,X,Y), Y <> 2.
p([P1,11],B1,B2,X,Y) :- p([P1,9],B1,B2,X,Y), Y = 2.
p([P1,0],B1,B2,X,Y) :- p([P1,10],B1,B2,X,Y), Y = 0.
p([P1,12],B1,B2,X,0) :- p([P1,11],B1,B2,X,Y).
p([P1,0],B1,0,X,Y) :- p([P1,12],B1,B2,X,Y).

assert swap: symmetric p([P1,P2],B1,B2,X,Y) under permutations {(P1,B1),(P2,B2)} with ids X, Y from 1.
assert mutex: p([P1,P2],B1,B2,X,Y), (P1 = 11, P2 = 11) |= false using swap.

% quotient: holds
