package worker

import (
	"context"
	"fmt"

	"github.com/symmrepl/symmrepl/interp"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// Start makes one rank: the interpreter, and the device and symmetric memory that it exposes to cells.
func Start(env session.Env) (session.Evaluator, session.Fabric, error) {
	var (
		runtime   *symmem.Runtime
		evaluator *interp.Interp
	)
	evaluator, err := interp.New(interp.Options{
		ConvertError: func(err error) *session.Error { return convert(err, evaluator) },
		Input:        env.Input,
		Inspect:      func(_ context.Context, topic, _ string) (string, error) { return inspect(runtime, topic) },
	})
	if err != nil {
		return nil, nil, err
	}
	runtime, err = symmem.Init(symmem.Config{
		Device: env.Device, Index: env.LocalRank, Backend: env.Backend, Client: env.Client, Joining: env.Incarnation > 1, Caller: evaluator.Position,
	})
	if err != nil {
		return nil, nil, explain(err, evaluator)
	}
	return evaluator, fabric{runtime, evaluator}, nil
}

// inspect answers the topics that are about the device.
func inspect(runtime *symmem.Runtime, topic string) (string, error) {
	switch topic {
	case session.TopicCaps:
		return runtime.Caps().String(), nil
	case session.TopicTop:
		return runtime.Top()
	case session.TopicTopo:
		return runtime.Topo()
	}
	return "", fmt.Errorf("there is no topic %q", topic)
}
