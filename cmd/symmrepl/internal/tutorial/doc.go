// Package tutorial is what a tutorial is made of: steps with text and a cell to run, exercises with hints and a check. It reads
// them from the files in the folder tutorials, whose README says how they are written, keeps how far a user has come, and makes notebooks
// of them. It runs nothing: a console does, one step after another.
package tutorial
