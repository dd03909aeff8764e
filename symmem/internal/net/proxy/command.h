// command.h: how other threads let the engine's thread do something.
#ifndef NET_COMMAND_H
#define NET_COMMAND_H

#include "state.h"

// net_command runs a command on the engine's thread and waits for it.
void net_command(net_proxy *p, void (*command)(net_proxy *, void *), void *argument);

// net_obey runs, on the engine's thread, the command that waits, and returns 1; 0 if none waits.
int net_obey(net_proxy *p);

// net_notify makes an eventfd readable.
void net_notify(int fd);

#endif
