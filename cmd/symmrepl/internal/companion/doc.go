// Package companion serves a program of Python whose processes are the ranks: package symmrepl.torch.
// Nothing of Go runs in those processes. They open the emulated device as a library and run kernels
// by themselves, and a companion makes what they open: the device, this project's kernels, and the
// texts of the program.
//
// The program starts `symmrepl companion` and sends requests on its standard input, one JSON object a
// line, each with a number of its own. The companion first names its version: a package of another one
// sends it nothing. It answers each request in a line with the same number, in any order, and ends when
// the program closes its end.
//
//	{"id": 0, "version": "0.1.0"}
//
//	{"id": 1, "emulator": true}
//	{"id": 1, "library": "/home/me/.cache/symmrepl/cpu/emulator-….so"}
//
//	{"id": 2, "operation": "pull_reduce_f32"}
//	{"id": 2, "library": "…"}
//
//	{"id": 3, "kernels": {"name": "prog.py", "line": 12, "text": "__global__ void scale(float* x, int n) { … }"}}
//	{"id": 3, "library": "…", "kernels": [{"name": "scale", "params": [{"name": "x", "type": "float*"}, {"name": "n", "type": "int"}]}]}
//
//	{"id": 4, "layouts": true}
//	{"id": 4, "layouts": {"PullArgs": {"size": …, "fields": {"context": {"offset": 0, "size": 40}, …}}}}
//
//	{"id": 5, "shadow": true}
//	{"id": 5, "shadow": "/proc/123/fd/9"}
//
//	{"id": 6, "findings": [{"rank": 0, "seed": 0, "lines": {"17": {"file": "prog.py", "line": 3, "source": "t.fill_(1)"}}, "findings": […]}, …]}
//	{"id": 6, "findings": [{"kind": "race between ranks", "ranks": [0], "accesses": […], "order": "…", "repair": "…", …}]}
//
//	{"id": 7, "watch": {"name": "prog.py", "ranks": 4, "deadlock": "wait"}}
//	{"id": 7, "socket": "/tmp/symmrepl-…/ranks"}
//
// The ranks of a program that is watched connect to the socket, as package torchrun describes. What they wait
// for is shown on the companion's standard error; it is watched as long as the companion runs.
//
// A shadow is the memory by which the sanitizer watches all ranks together; it lasts as long as the
// companion. Findings are the reports of ranks, as type Report of package foreign has them, and come
// back as those of a session, as --json prints them; without any, the answer has an empty list.
//
// A request with "watched": true asks for kernels whose accesses the sanitizer sees. An answer with
// "error" says why there is nothing else in it; "diagnostics" are the errors of a compiler at lines of
// the text. A line that is no request is answered with its number, or with 0 if it has none.
package companion
