#include "message.h"

#include <string.h>

net_window *net_find_window(const net_guard *g, uint32_t id) {
	size_t low = 0, high = g->count;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (g->windows[mid]->id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < g->count && g->windows[low]->id == id && !g->windows[low]->closing ? g->windows[low] : NULL;
}

int net_fits(const net_window *w, uint64_t offset, uint64_t bytes, uint64_t width, uint64_t pitch) {
	uint64_t extent = bytes, end;
	if (width && bytes) {
		uint64_t rows = bytes / width;
		if (__builtin_mul_overflow(rows - 1, pitch, &extent) || __builtin_add_overflow(extent, width, &extent)) return 0;
	}
	return !__builtin_add_overflow(offset, extent, &end) && end <= w->bytes;
}

net_reason net_check(const net_guard *g, const void *raw, size_t raw_bytes, size_t bytes, net_header *h) {
	if (raw_bytes != sizeof *h) return NET_MALFORMED;
	memcpy(h, raw, sizeof *h);
	if (h->protocol != NET_PROTOCOL) return NET_MALFORMED;
	if (h->secret != g->secret) return NET_SECRET;
	if (h->epoch != g->epoch || h->epoch == 0) return NET_EPOCH;
	if (h->source >= g->size) return NET_SOURCE;

	int put = h->kind == NET_MESSAGE_PUT, get = h->kind == NET_MESSAGE_GET, answer = h->kind == NET_MESSAGE_ANSWER;
	if (h->kind < NET_MESSAGE_PUT || h->kind > NET_MESSAGE_TELL) return NET_MALFORMED;
	if (bytes != (put || answer ? h->bytes : 0) || h->bytes > NET_PIECE) return NET_MALFORMED;
	if (!put && !get) return NET_FINE;

	if (h->number == 0) return NET_MALFORMED;
	int atomic = get && h->signal;
	if (atomic && (h->signal > NET_COMPARE_SWAP || h->width || (h->bytes != 4 && h->bytes != 8))) return NET_MALFORMED;
	if (h->width && (h->bytes % h->width || h->pitch < h->width)) return NET_MALFORMED;
	if (h->bytes) {
		net_window *w = net_find_window(g, h->window);
		if (!w) return NET_WINDOW;
		if (!net_fits(w, h->offset, h->bytes, h->width, h->pitch)) return NET_BOUNDS;
		if (atomic && (w->base + h->offset) % h->bytes) return NET_WORD;
	}
	if (get) return NET_FINE;
	switch (h->signal) {
	case NET_SIGNAL_NONE:
		break;
	case NET_SIGNAL_ADD_INDEXED:
		if (h->signal_at >= g->signals) return NET_WORD;
		break;
	case NET_SIGNAL_SET_WORD:
	case NET_SIGNAL_ADD_WORD: {
		net_window *w = net_find_window(g, h->signal_window);
		if (!w) return NET_WINDOW;
		if ((w->base + h->signal_at) % 8 || !net_fits(w, h->signal_at, 8, 0, 0)) return NET_WORD;
		break;
	}
	default:
		return NET_MALFORMED;
	}
	return NET_FINE;
}
