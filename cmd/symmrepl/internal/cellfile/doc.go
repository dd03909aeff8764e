// Package cellfile reads and writes files of cells: Go, with a line between cells that begins with
// `// %%`.
//
// The rest of a line `// %%` is the cell's title. `// %%rank [0,2]` begins a cell for those ranks
// only, and `// %%cd "folder"` a cell that first changes the folder of all ranks. `// %%
// [markdown]` begins a cell of a kind that does not run with the others, such as text or an
// exercise's solution. A line counts only where Go has a comment, not inside a raw string or a
// longer comment. Any line of a cell outside of brackets, comments and raw strings may be a command
// or a shell line, which need not be Go. The text before the first `// %%` is a cell too. Pieces
// without code are no cells, so a file may begin with a build constraint and comments.
package cellfile
