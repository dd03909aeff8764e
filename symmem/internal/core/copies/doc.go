// Package copies lets the streams of a group's members meet around copies by copy engines, by
// memory operations, so that no multiprocessor takes part.
//
// The protocol. Every member's workspace has two words for each member (layout.CopyComing,
// layout.CopyDone), zero when nobody copies:
//
//	coming[src]  1 from when src's stream has come to the call until this member's stream has seen it
//	done[src]    1 from when src's stream is done with its copies until this member's stream has seen it
//
// A stream stores 1 into everybody's coming, holds until its own are all 1, sets those to 0, and
// reads the peers' memory; then the same with done. A member stores into coming again only after
// everybody's done of the call before, which comes after everybody's coming was set to 0, and the
// other way round: so every word has one meaning at a time. The values are the same in every call,
// which a graph needs.
//
// A stream that holds cannot look at the abort word. So a goroutine of a [Watch] watches the stream
// from the host while copies may be under way: it sees the phase of the stream and the missing
// words, publishes the wait, and, when the call's time is over or the world is aborted, stores the
// missing words itself. The streams only ever read the peers' memory and write their own: a wait
// that was given up leaves only this rank's result undefined.
package copies
