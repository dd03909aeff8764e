// Package export writes the cells of a session as a Go program: as the program's own file, or as a
// folder with the sources of everything that it uses. Package modules has the sources of other
// modules.
//
// The cells are checked in order, as in the session, to resolve every name in them. Each cell
// becomes a function of the program. Its functions, types and constants precede that function, and
// its top-level variables become variables of the program. The text of the cells, including
// comments, is kept, with these changes:
//
//   - A name that was defined again gets another name in the program (x, x2), so that earlier code
//     keeps the old meaning. A variable that was defined again with the same type remains the same
//     variable, as in the session.
//   - A function or method that was defined again with the same signature becomes a variable that
//     each defining cell sets, so that earlier callers call the new definition.
//   - The value of a last expression is printed by package show, as in the session.
//   - Unused variables, imports and labels, which a compiler rejects, are used or left out.
//
// Between cells the ranks wait for each other. A cell for some ranks runs on those only. Cells that
// failed on any rank become comments. Their declarations are kept, but a cell that uses one of
// their variables is refused. A session that a program would run differently is a recorded.Error, never a
// program.
//
// A program differs from the session in some ways. It does not repeat the effects of a failed cell
// before the failure. Methods exist from the start: a type that got its String method in a later
// cell has it in earlier cells, too. The verb %T writes the program's name for a type that was
// declared again, such as point2. And a program does not end a line that a cell leaves open.
package export
