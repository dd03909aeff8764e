package symmem

import (
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"slices"
)

// preload loads the kernels that signal. The driver may hold back the loading of a kernel while
// another one runs, and the running one may wait for a signal of the kernel that is being loaded.
// Kernels of collective operations are loaded by the first call in a group of each size. A kernel
// that does not load is reported by the call that needs it.
func (rt *Runtime) preload() {
	rt.load("barrier", "put_signal", "wait_signal", "put_with_signal", "wait_for_signal", "signal_add")
}

// load loads kernels for groups of any size.
func (rt *Runtime) load(names ...string) {
	for _, name := range names {
		if k, err := rt.dev.Builtin(name, 0); err == nil {
			rt.builtins[builtinKernel{name: name}] = k
		}
	}
}

// builtinKernel names a kernel of kernels/, for groups of so many ranks, or 0 for any.
type builtinKernel struct {
	name  string
	ranks int
}

// builtin returns a kernel of kernels/. rt.mu is held.
func (rt *Runtime) builtin(op, name string, ranks int) device.Kernel {
	key := builtinKernel{name, ranks}
	k, ok := rt.builtins[key]
	if !ok {
		done := rt.compiling() // where it was not compiled before
		var err error
		k, err = rt.dev.Builtin(name, ranks)
		if done(); err != nil {
			panic(rt.failure(op, err))
		}
		rt.builtins[key] = k
	}
	return k
}

// chain makes s wait for the previous use of the group's signals, if that is on another stream.
// rt.mu is held.
func (g *Group) chain(op string, s *Stream) {
	if c := g.rt.capture; c != nil {
		if !slices.Contains(c.groups, g) {
			c.groups, c.builds = append(c.groups, g), append(c.builds, g.builds)
		}
		return
	}
	if g.last == nil || g.last == s {
		return
	}
	if g.crossed = true; !g.marked {
		g.mustRecord(op, g.last) // the group used no other stream until now
	}
	if err := s.wait(g.event); err != nil {
		panic(g.rt.failure(op, err))
	}
}

// mark notes that the group's signals were used on s. An event marks the end of that use once they
// have been used on several streams; before that, none is needed. rt.mu is held.
func (g *Group) mark(op string, s *Stream) {
	if g.rt.capture != nil {
		return
	}
	g.last, g.marked = s, false
	if g.crossed && len(g.rt.streams) > 1 {
		g.mustRecord(op, s)
	}
}

func (g *Group) mustRecord(op string, s *Stream) {
	var err error
	if g.event == nil {
		if g.event, err = g.rt.dev.NewEvent(); err != nil {
			panic(g.rt.failure(op, err))
		}
	}
	if err := s.record(g.event); err != nil {
		panic(g.rt.failure(op, err))
	}
	g.marked = true
}
