// Package bench measures a session as its user feels it: how long it takes to start, to run a cell,
// to print, and from an edited kernel to its result. Times are taken in the front end, from handing
// over an entry to its reply.
package bench
