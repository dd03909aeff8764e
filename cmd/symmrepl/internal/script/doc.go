// Package script runs cells that come from a file or a pipe.
//
// In a file, a line that begins with `// %%` begins a cell, and what follows on that line is its title;
// errors cite the file and its own lines. `// %%rank [0,2]` begins a cell for those ranks only. What comes
// through a pipe is read as if typed.
package script
