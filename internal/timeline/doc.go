// Package timeline shows the work of several ranks over time.
//
// Each rank records its part, a [Rank]: slices of time on tracks for its cells, its calls on the
// host, each stream and the network, by the clock of its host, and how that clock was compared with
// the clock that all ranks know. [Merge] puts the parts on one clock and draws the arrows: from an
// operation that signals to the wait that it ended. A rank whose clock could not be compared stays
// apart, with its reason.
//
// A [Timeline] then shows itself: as bars of characters with [Timeline.Bars], as numbers with
// [Timeline.Summary], and as a file for ui.perfetto.dev with package perfetto below.
package timeline
