// Package serve lets a program in another language hold a session: it is a front end whose user is
// the program at the other end of a pipe. The Python package symmrepl is such a program.
//
// # Messages
//
// Each message is a line of JSON, in UTF-8: requests come from the program, answers go to it. The
// first line is a greeting,
//
//	{"symmrepl": "0.1.0", "protocol": 1, "size": 4, "folder": "/dev/shm/symmrepl-0/s1", "ranks": […], …}
//
// with the [Protocol] that the program must know. Then the program sends requests, each with a
// number of its own, id, and one more field for the question; type request lists them. The answers
// to a request carry its number: any number of events, and at the end one reply. Type answer lists
// both. Requests may overlap; entries run one at a time, in the order in which they came.
//
// A request to cancel ends an entry as Ctrl-C does at the prompt: its reply still comes. A second
// one, after the session has named the ranks that do not stop, replaces these. When the program
// closes its end, or dies, the session ends; a session that was attached to goes on.
//
// # Tensors
//
// Tensors do not go through the pipe. To get one, each rank saves it to a file in the folder of the
// greeting, and the reply names the files; the program maps a file and removes it. To put one, the
// program writes a file there, or one for each rank, and names it; each rank loads it. The files are
// in the safetensors format, whose header has the type and the shape. The folder is in memory
// (/dev/shm), so that a tensor is copied at the speed of memory; ranks on other hosts do not see it
// and get an error that says so. It is removed when the session ends, and if this process is killed,
// by the next one that serves.
package serve
