// Package export writes the cells of a session as a Go program: as the program's own file, or as a folder with the sources of all that it
// uses. Package modules holds those of other modules.
//
// The cells are checked in order, as the session checked them, which tells what every name in them means. Each becomes a
// function of the program; functions, types and constants stand before it, and the variables of its top level are the
// program's. The text of the cells is kept, comments too, but for what has to change:
//
//   - A name that was given a new meaning is another name in the program (x, x2), so that what was written before keeps the
//     old one. A variable that was defined again with the same type is the same variable, as in the session.
//   - A function or method that was defined again with the same signature becomes a variable, which each cell that defines it
//     sets: earlier callers get the new one.
//   - The value of a last expression goes to package show, which prints it as the session does.
//   - What a prompt tolerates and a compiler does not (unused variables, imports and labels) is made used or left out.
//
// Between cells the ranks wait for each other. A cell for some ranks runs on those only. Cells that failed, on any rank, are
// comments; what they declared is there, but a cell that uses a variable of theirs is refused. What would not run as it ran in the
// session is an [Error], never a program.
//
// Some things a program does otherwise. What a failed cell did before it failed is not done. Methods are there from the start: a
// type that got its String method in a later cell has it in the cells before. And %T writes the program's name of a type that was
// declared again, point2. The session also ends a line that a cell leaves open; a program does not.
package export
