// Package standing has the debugger's stops. A goroutine of a debugged cell stands before a statement:
// the step of contract.StopAt, which precedes the statement, does not return until the debugger lets
// the goroutine go on or the cell is stopped. One goroutine stands at a time; another one that reaches
// a breakpoint meanwhile waits for its turn. As long as there are no breakpoints and nothing is stepped
// or paused, the step only reads a flag.
package standing
