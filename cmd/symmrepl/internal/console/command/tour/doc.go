// Package tour holds the commands that step through a tutorial, one in each file, and the [Tour]
// that they share: the open tutorial and the current step. Package tutorial reads the tutorials and
// keeps the user's progress.
package tour
