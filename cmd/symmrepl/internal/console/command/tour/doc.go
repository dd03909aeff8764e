// Package tour holds the commands that step through a tutorial, one file each, and the [Tour] that they share: which
// tutorial is open, and at which step. Package tutorial reads the tutorials and keeps the user's progress.
package tour
