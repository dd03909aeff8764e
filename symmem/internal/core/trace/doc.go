// Package trace records when the operations of a rank begin and end on its device, and for which
// ranks they wait.
//
// Each stream is replaced by one that puts an event before and after the work of a call; a
// goroutine looks at the page of waits from time to time. The package knows streams and calls by
// their numbers. Its owner says which call issues work, where the program is, and for which ranks a
// wait is.
package trace
