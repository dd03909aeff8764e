// Package tutorial reads tutorials: steps with text and a cell to run, exercises with hints and a
// check. The files are in the folder tutorials, whose README describes the format. The package also
// keeps a user's progress, and makes notebooks of tutorials, with the pictures of package drawing. It
// runs nothing: the commands of a console do, one step after another.
package tutorial
