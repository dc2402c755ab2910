byte len;
byte timeout;
proctype run() { skip }
init { skip }
