// Package term is the prompt: it reads entries from a terminal and runs them on a console.
//
// The terminal stays in raw mode without signals from the first prompt to the last, also while a
// cell runs: Ctrl-C is then a byte like any other, which means "interrupt the cell" while one runs
// and "clear the line" otherwise, and which a launcher that shares the terminal (torchrun, mpirun)
// never sees. Output processing stays on, so that programs' newlines need no translation.
//
// # Files
//
// prompt.go reads entries and runs them. A key takes this way: lent.go reads the terminal, unless
// the user's own editor has it, which edit.go runs; keys.go holds the keys until a prompt or a cell
// (input.go) takes them, with pasted text apart (paste.go); escapes.go turns the escape sequences of
// terminals into single characters; guard.go filters them for the line editor, which line.go runs.
// history.go keeps the entries, complete.go completes words, paint.go colours the line and cuts it to
// the screen.
//
// # The line editor
//
// github.com/ergochat/readline edits and draws one line that wraps, searches the history and shows
// a menu of completions. This package adds
//
//   - blocks: entries of several lines, with Alt-Enter, and Up and Down within the entry (block.go). One that
//     is taller than the screen the editor would paint again below itself with each key (paint.go);
//   - pasted text as one key (paste.go);
//   - keys that the editor does not know, among them Ctrl-Left, Alt-D and the answers of terminals, which would
//     become text (escapes.go);
//   - Ctrl-C that clears the line also in a search or a menu (keys.go).
//
// It works around these faults of v0.1.3:
//
//   - Enter panics beyond the end of a menu's last row (guard.go). Any other panic ends only that editor, and
//     another one goes on with the line (line.go);
//   - before each prompt it waits for the terminal to report the cursor's position (line.go);
//   - it paints only text that is appended to a line (guard.go), and looks at the width of the
//     screen only when told.
package term
