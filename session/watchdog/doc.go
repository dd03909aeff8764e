// Package watchdog decides about the ranks of a running cell: whom to ask, what to tell the user, and
// whether waits are to end because no rank can end them.
//
// It starts nothing and sends nothing. A [Watch] is told what the ranks answer, and its method Look gets a
// [Snapshot] of the cell and returns actions, which the controller carries out. So a test is a table of
// answers and snapshots with the actions that follow.
//
//	watch.go     what is known of each rank, and what it does
//	hang.go      which waits are worth a report, and the table of them
//	deadlock.go  which waits cannot end
//	stand.go     ranks that wait for those that stand before a statement
package watchdog
