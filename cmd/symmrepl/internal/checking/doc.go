// Package checking runs the cases that stand beside kernels, for symmrepl check.
//
// Find collects the files with cases below some paths and reads all of them, so that a mistake in a
// case is told before anything runs. Run then opens a session for each number of ranks, compiles
// each file once in it, and runs the cases as silent cells one after the other: a case is a function
// on the lines of the case, so that positions are lines of the file. With several orders, a case
// runs once in each. What a case holds is freed behind it. A case that fails does not end the
// session: what it left is freed, and ranks that were lost, or do not come back, are replaced by
// fresh ones. Results come in the order in which cases end; the files of results are written from
// all of them, also after an interrupt.
package checking
