// Package console turns a user's entries into calls of a session, and prints the replies.
//
// A front end (the prompt, a script, -e, a notebook) makes one Console for its session and hands it
// each entry as a Request: the source, the printer for output, and the function that answers when a
// cell reads standard input. An entry is one of four things:
//
//   - a cell of Go;
//   - a command, which begins with ':' or '%';
//   - a cell that begins with a line `%%rank [0,2]`, which names its ranks, `%%cuda`, below which a
//     kernel's text stands, or the name of a command that takes code, such as `%%time`;
//   - a shell line, which begins with '$'.
//
// A command is a row: a [Command] with its name, its help, whether it takes code, the completion of
// its argument, and the function that runs it. Everything that has to know a command reads the row:
// dispatch, continuation lines, completion, the splitting of a notebook's cell, help. The rows
// themselves are in package command, one file each; a Console gets them as its Commands.
//
// The package knows nothing of terminals.
package console
