// Package term is the prompt: it reads entries from a terminal and runs them on a console.
//
// The terminal stays in raw mode without signals from the first prompt to the last, also while a cell runs:
// Ctrl-C is then a byte like any other, which means "interrupt the cell" while one runs and "clear the line"
// otherwise, and which a launcher that shares the terminal (torchrun, mpirun) never sees. Output processing
// stays on, so that programs' newlines need no translation.
//
// A key takes this way. keys.go owns the terminal's input, unless lent.go lends it to the user's
// own editor, which edit.go runs. keys.go passes the input to the line editor, readline, line by
// line; before that escapes.go turns escape sequences into single characters. guard.go is the line
// editor's filter and listener: it withholds keys that the editor handles wrongly, and edits there
// itself. block.go lets the editor, which knows one line, edit an entry of several lines; paint.go
// shows that. history.go keeps whole entries.
//
// The editor (readline v1.5.1) has these mistakes, and gets no key that leads to them: Ctrl-T
// panics on one character; Delete on an empty line is Ctrl-D; Ctrl-R with an empty history panics;
// most keys while its menu of completions is open panic, or need a second Ctrl-C; unknown escape
// sequences become text; it hangs if the prompt is a multiple of the screen's width.
//
// These mistakes remain: it moves the cursor back by one column for a character of two, so that the
// cursor is shown too far right in a line with such characters, although it edits at the right
// place; on screens of fewer than 40 columns, and when a block is higher than the screen, lines are
// drawn over one another; a panic in the editor's own goroutine would end the program, and
// TestTyping searches for one with random keys.
package term
