// api.h: hand-written declarations of the used part of libucp. The library is opened at run time,
// and its headers are not needed to build.
//
// The layouts are those of version 1.13. Later versions append fields, and read only those that a
// mask names.
#ifndef NET_UCX_API_H
#define NET_UCX_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint64_t mask, features, request_size;
	void *request_init, *request_cleanup;
	uint64_t tag_mask;
	int shared, unused0;
	uint64_t endpoints, per_node;
	const char *name;
} ucx_params;

typedef struct {
	uint64_t mask, request_size;
	int thread_mode, unused0;
	uint64_t memory_types;
	char name[32];
} ucx_context_attributes;

typedef struct {
	uint64_t mask;
	int thread_mode, unused0;
	uint8_t cpus[128];
	unsigned events, unused1;
	void *user;
	int event_fd, unused2;
	uint64_t flags;
	const char *name;
	uint64_t more[2];
} ucx_worker_params;

typedef struct {
	uint64_t mask;
	const void *address;
	int error_mode, unused0;
	void (*on_error)(void *arg, void *ep, int status);
	void *error_arg;
	void *user;
	unsigned flags, unused1;
	const void *socket_address;
	unsigned socket_address_bytes, unused2;
	void *request;
	const char *name;
	uint64_t local[2];
} ucx_ep_params;

typedef struct {
	uint32_t mask, flags;
	void *request;
	union {
		void (*sent)(void *request, int status, void *user);
		void (*received)(void *request, int status, size_t bytes, void *user);
	} done;
	uint64_t datatype;
	void *user, *reply;
	int memory, unused0;
	void *info, *handle;
} ucx_request_param;

typedef struct {
	uint64_t attributes;
	void *reply;
} ucx_am_param;

typedef struct {
	uint64_t mask;
	unsigned id;
	uint32_t flags;
	int (*message)(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes, const ucx_am_param *param);
	void *arg;
} ucx_am_handler;

_Static_assert(sizeof(ucx_params) == 80, "ucp_params_t");
_Static_assert(offsetof(ucx_context_attributes, memory_types) == 24, "ucp_context_attr_t");
_Static_assert(sizeof(ucx_worker_params) == 200, "ucp_worker_params_t");
_Static_assert(sizeof(ucx_ep_params) == 104, "ucp_ep_params_t");
_Static_assert(sizeof(ucx_request_param) == 72, "ucp_request_param_t");
_Static_assert(sizeof(ucx_am_handler) == 32, "ucp_am_handler_param_t");
_Static_assert(offsetof(ucx_params, endpoints) == 56 && offsetof(ucx_ep_params, flags) == 48 && offsetof(ucx_request_param, user) == 32, "fields");

enum { UCX_OK = 0, UCX_IN_PROGRESS = 1, UCX_UNREACHABLE = -6 };
enum { UCX_PARAM_FEATURES = 1, UCX_PARAM_ENDPOINTS = 64, UCX_FEATURE_WAKEUP = 16, UCX_FEATURE_AM = 64 };
enum { UCX_CONTEXT_MEMORY_TYPES = 4 };
enum { UCX_WORKER_THREAD_MODE = 1, UCX_SINGLE = 0 };
enum { UCX_EP_ADDRESS = 1, UCX_EP_ERROR_MODE = 2, UCX_EP_ERROR_HANDLER = 4, UCX_ERRORS_OF_PEER = 1, UCX_CLOSE_FORCE = 1 };
enum { UCX_OP_CALLBACK = 2, UCX_OP_USER = 4, UCX_OP_FLAGS = 16, UCX_OP_MEMORY = 64, UCX_OP_ALWAYS_CALL = 1 << 16, UCX_MEMORY_HOST = 0, UCX_MEMORY_CUDA = 1 };
enum { UCX_AM_ID = 1, UCX_AM_FLAGS = 2, UCX_AM_CALLBACK = 4, UCX_AM_ARG = 8, UCX_AM_WHOLE = 1, UCX_AM_RENDEZVOUS = 1 << 17 };

// Calls return a pointer: NULL if the operation is complete, a status in the last 100 bytes of the
// address space, or a request.
static inline int ucx_is_error(const void *p) { return (uintptr_t)p >= (uintptr_t)-100; }

#define UCX_FUNCTIONS(F) \
	F(void, get_version, (unsigned *major, unsigned *minor, unsigned *release)) \
	F(int, config_read, (const char *prefix, const char *file, void **config)) \
	F(int, config_modify, (void *config, const char *name, const char *value)) \
	F(void, config_release, (void *config)) \
	F(int, init_version, (unsigned major, unsigned minor, const ucx_params *params, const void *config, void **context)) \
	F(int, context_query, (void *context, ucx_context_attributes *attributes)) \
	F(void, cleanup, (void *context)) \
	F(int, worker_create, (void *context, const ucx_worker_params *params, void **worker)) \
	F(void, worker_destroy, (void *worker)) \
	F(unsigned, worker_progress, (void *worker)) \
	F(int, worker_get_efd, (void *worker, int *fd)) \
	F(int, worker_arm, (void *worker)) \
	F(int, worker_get_address, (void *worker, void **address, size_t *bytes)) \
	F(void, worker_release_address, (void *worker, void *address)) \
	F(int, worker_set_am_recv_handler, (void *worker, const ucx_am_handler *handler)) \
	F(int, ep_create, (void *worker, const ucx_ep_params *params, void **ep)) \
	F(void *, ep_close_nbx, (void *ep, const ucx_request_param *param)) \
	F(void *, ep_flush_nbx, (void *ep, const ucx_request_param *param)) \
	F(void *, am_send_nbx, (void *ep, unsigned id, const void *header, size_t header_bytes, const void *data, size_t bytes, const ucx_request_param *param)) \
	F(void *, am_recv_data_nbx, (void *worker, void *descriptor, void *to, size_t bytes, const ucx_request_param *param)) \
	F(int, request_check_status, (void *request)) \
	F(void, request_free, (void *request))

#define UCX_MEMBER(result, name, args) result(*name) args;
typedef struct {
	UCX_FUNCTIONS(UCX_MEMBER)
	const char *(*status_string)(int status); // a function of libucs
} ucx_api;

#endif
