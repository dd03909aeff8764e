#include "command.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

void net_notify(int fd) {
	uint64_t one = 1;
	while (write(fd, &one, sizeof one) < 0 && errno == EINTR) {
	}
}

void net_command(net_proxy *p, void (*command)(net_proxy *, void *), void *argument) {
	pthread_mutex_lock(&p->callers);
	pthread_mutex_lock(&p->lock);
	p->command = command;
	p->argument = argument;
	__atomic_store_n(&p->commanded, 1, __ATOMIC_SEQ_CST);
	net_notify(p->bell);
	while (p->commanded) pthread_cond_wait(&p->answered, &p->lock);
	pthread_mutex_unlock(&p->lock);
	pthread_mutex_unlock(&p->callers);
}

int net_obey(net_proxy *p) {
	if (!__atomic_load_n(&p->commanded, __ATOMIC_ACQUIRE)) return 0;
	p->command(p, p->argument);
	pthread_mutex_lock(&p->lock);
	p->commanded = 0;
	pthread_cond_signal(&p->answered);
	pthread_mutex_unlock(&p->lock);
	return 1;
}
