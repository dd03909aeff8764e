package run

import "go/token"

// caller is runtime.Caller for the call at a position. There is no program counter to go with it.
func (rt *Runtime) caller(at int) (pc uintptr, file string, line int, ok bool) {
	file, line = rt.fileLine(token.Pos(at))
	return 0, file, line, line > 0
}
