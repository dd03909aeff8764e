package worker

import (
	"context"
	"fmt"

	"github.com/symmrepl/symmrepl/interp"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// Start makes one rank: its device and symmetric memory first, then the interpreter that exposes them to
// cells.
func Start(env session.Env) (session.Evaluator, session.Fabric, error) {
	runtime, err := symmem.Init(symmem.Config{
		Device: env.Device, Index: env.LocalRank, Backend: env.Backend, Client: env.Client, Joining: env.Incarnation > 1,
	})
	if err != nil {
		return nil, nil, explain(err)
	}
	evaluator, err := interp.New(interp.Options{
		ConvertError: convert,
		Input:        env.Input,
		Inspect:      func(_ context.Context, topic, _ string) (string, error) { return inspect(runtime, topic) },
	})
	if err != nil {
		runtime.Close()
		return nil, nil, err
	}
	return evaluator, fabric{runtime}, nil
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
