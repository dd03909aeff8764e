// Package heartbeat notices that the other end of a connection has vanished: its machine lost power
// or froze, or the link was cut. No packet reports that, so no other part of the system would
// notice for minutes.
//
// Both ends of a connection send a beat ten times within the limit, at least once a second,
// whatever else they do. If an end receives neither a beat nor other bytes for the limit, it closes
// the connection: reads and writes then fail with a *SilenceError. Only time in which this end
// listened counts. So a process that was stopped, or that is slow to handle its input, does not
// mistake its own absence for silence of the other end.
package heartbeat
