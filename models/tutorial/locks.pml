// quotient: violated deadlock
// quotient: -D ORDERED => holds
// Two processes take two locks, in opposite orders unless ORDERED is defined.
#ifdef ORDERED
#define SECOND_FIRST first
#define SECOND_THEN second
#else
#define SECOND_FIRST second
#define SECOND_THEN first
#endif
bool first, second;

inline take(lock) { atomic { !lock -> lock = true } }

active proctype one() {
  take(first); take(second);
  second = false; first = false
}

active proctype other() {
  take(SECOND_FIRST); take(SECOND_THEN);
  SECOND_THEN = false; SECOND_FIRST = false
}
