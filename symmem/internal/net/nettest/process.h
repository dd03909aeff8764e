#include <stddef.h>

// net_process_state writes the handlers of all signals, and the first bytes of functions that
// libraries tend to patch.
void net_process_state(char *to, size_t room);
