package rank

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/lending"
	"github.com/symmrepl/symmrepl/interp"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/worker"
	"github.com/symmrepl/symmrepl/symmem"
)

// Start creates one rank: the interpreter, and the device and symmetric memory of its cells. The
// interpreter is made beside the device, of which most of the time is waiting for a driver.
func Start(env worker.Env) (session.Evaluator, session.Communicator, error) {
	var (
		comm      communicator
		evaluator *interp.Interp
		unmade    error
		making    sync.WaitGroup
		made      atomic.Pointer[interp.Interp]
	)
	memory := interp.MemoryShare(cmp.Or(env.LocalSize, env.Size))
	making.Go(func() {
		evaluator, unmade = interp.New(interp.Options{
			ConvertError: func(err error) *session.Error { return convert(err, evaluator) },
			Input:        env.Input,
			Trail:        env.Trail,
			Memory:       memory,
			Showing:      func() (shown func()) { return comm.runtime.PauseTrace() },
			Inspect:      func(_ context.Context, q session.Query) (session.Answer, error) { return comm.inspect(q) },
		})
		if unmade == nil {
			made.Store(evaluator)
		}
	})
	from := lending.Lender{Dir: env.Lender, Rank: env.Rank}
	config := symmem.Config{
		Device: env.Device, Index: env.LocalRank, LocalSize: env.LocalSize, Backend: env.Backend, Network: env.Network,
		Client: env.Client, Joining: env.Incarnation > 1,
		Caller: func() int {
			if in := made.Load(); in != nil {
				return in.Position()
			}
			return 0
		},
		Line: func(at int) string {
			if in := made.Load(); in != nil {
				return line(in, at)
			}
			return ""
		},
	}
	if env.Lender != "" {
		config.Lend = lend(from)
	}
	runtime, err := symmem.Init(config)
	making.Wait()
	if unmade != nil {
		if err == nil {
			runtime.Close()
		}
		return nil, nil, unmade
	}
	if err != nil {
		return nil, nil, explain(err, evaluator)
	}
	comm = communicator{runtime, evaluator}
	if env.Lender != "" {
		return attached{evaluator, from}, comm, nil
	}
	return evaluator, comm, nil
}
