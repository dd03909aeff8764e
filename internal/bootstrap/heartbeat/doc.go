// Package heartbeat notices that the other end of a connection has vanished: its machine lost power or froze, or the link was cut. No
// other part of the system tells of that for minutes, as no packet says it.
//
// Both ends of a connection send a beat ten times in the limit, at least once a second, whatever else they do. An end that hears nothing for the
// limit, neither a beat nor anything else, closes the connection: reads and writes then fail with a *SilenceError. Only time in which this end
// listened counts. A process that was stopped, or that is slow to handle what it has read, does not take its own absence for that of others.
package heartbeat
