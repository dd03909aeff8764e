package worker

import (
	"cmp"
	"context"

	"github.com/symmrepl/symmrepl/interp"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// Start creates one rank: the interpreter, and the device and symmetric memory of its cells.
func Start(env session.Env) (session.Evaluator, session.Communicator, error) {
	var (
		comm      communicator
		evaluator *interp.Interp
	)
	evaluator, err := interp.New(interp.Options{
		ConvertError: func(err error) *session.Error { return convert(err, evaluator) },
		Input:        env.Input,
		Trail:        env.Trail,
		Memory:       interp.MemoryShare(cmp.Or(env.LocalSize, env.Size)),
		Inspect:      func(_ context.Context, q session.Query) (session.Answer, error) { return comm.inspect(q) },
	})
	if err != nil {
		return nil, nil, err
	}
	runtime, err := symmem.Init(symmem.Config{
		Device: env.Device, Index: env.LocalRank, LocalSize: env.LocalSize, Backend: env.Backend, Network: env.Network, Client: env.Client, Joining: env.Incarnation > 1, Caller: evaluator.Position,
		Line: func(at int) string { return line(evaluator, at) },
	})
	if err != nil {
		return nil, nil, explain(err, evaluator)
	}
	comm = communicator{runtime, evaluator}
	return evaluator, comm, nil
}
