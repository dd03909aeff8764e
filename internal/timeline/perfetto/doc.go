// Package perfetto writes timelines as files of Perfetto, which ui.perfetto.dev and
// trace_processor open: https://perfetto.dev/docs/reference/trace-packet-proto.
//
// A file is a list of packets, the message Trace of perfetto_trace.proto. The first one has the
// clock: all times are CLOCK_MONOTONIC of the first rank. Then come the tracks: one at the root,
// below it one for each rank, and below that its cells, its calls on the host, its streams and its
// network. Then come the slices: a packet where each begins and one where it ends, by time. Names
// are interned: a packet defines the strings that are new in it. An arrow has an id: the begin of
// the slice that it leaves and the end of the one that it reaches have it.
//
// Slices of a track must lie side by side or one within the other. Those that do not, such as
// messages, get a further track of the same kind: "network (2)".
package perfetto
