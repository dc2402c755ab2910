// expect: states=12 transitions=11 errors=none
// spin-default: states=12
/* A loop left by break. */
byte i;
active proctype P() { do :: i < 4 -> i++ :: i == 4 -> break od; i = 0 }
