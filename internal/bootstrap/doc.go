// Package bootstrap is how the ranks of a world meet on the host: a hub that gathers bytes from a group of
// ranks, and a client in every rank.
//
// A rank calls Gather with the description of the collective call it is making. The hub holds the
// contributions of one call (same key, same ordinal) until every member has come, compares the descriptions,
// and answers all of them at once: with everybody's bytes, or, if the descriptions differ, with an error that
// names who called what. A member that cannot come any more (its program ended, its process died, it is not
// part of the work in hand) makes the call fail for the others at once, by name, instead of leaving them to
// wait. File descriptors travel from rank to rank over Unix sockets in a private directory; the hub never
// sees them.
//
// The hub runs beside whoever started the ranks. It knows nothing of devices or of user code.
package bootstrap
