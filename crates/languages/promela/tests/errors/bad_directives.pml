#if
#endif
#define
#undef
#frob
#include
#include "does/not/exist.pml"
#else
#endif
#ifdef
#endif
#if 1 +
#endif
#if 1 / 0
#endif
byte x;
