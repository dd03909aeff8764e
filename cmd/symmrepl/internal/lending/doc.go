// Package lending connects a program of symmrepl torchrun with the sessions that attach to it.
//
// The program that watches the ranks listens at a Unix socket in a folder of its own ([Listen]), which
// only its user can enter. A front end finds the folder ([Find]), asks what the ranks do, and lets them
// go on; each rank of its session asks for tensors of the program's rank of the same number. Requests
// and replies are lines of JSON:
//
//	{"id": 1, "what": "program"}
//	{"id": 1, "program": {"name": "prog.py", "pid": 4711, "ranks": 4, "stands": true, "text": "  rank 0-3  at prog.py:14 in step\n"}}
//	{"id": 2, "what": "tensor", "rank": 0, "name": "t"}
//	{"id": 2, "tensor": {"pid": 4713, "fd": 9, "inode": 77, "size": 16384, "pad": 9216, "data": 12288, "bytes": 64, …}}
//	{"id": 3, "what": "continue"}
//	{"id": 3, "err": "prog.py stands at no breakpoint"}
//
// Replies may come in another order. Tensors are not copied: a tensor's memory is a file of the rank's
// process, which [Tensor.Open] opens.
package lending
