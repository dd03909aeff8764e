// Package cellfile reads and writes files of cells: Go, with a line between cells that begins with `// %%`.
//
// What follows `// %%` on its line is the cell's title; `// %%rank [0,2]` begins a cell for those ranks only,
// `// %%cd "folder"` one that changes the folder of all ranks before the rest of it runs, if there is any, and
// `// %% [markdown]` one of a kind that is not run with the others, such as text or an exercise's solution. A
// line counts only where Go has a comment, not inside of a raw string or a longer comment. A cell may begin with commands
// and shell lines, which need not be Go. What comes before the first
// such line is a cell too; pieces without code are none, so a file may begin with a build constraint and comments.
package cellfile
