package worker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/symmrepl/symmrepl/interp"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// Start makes one rank: the interpreter, and the device and symmetric memory that it exposes to cells.
func Start(env session.Env) (session.Evaluator, session.Communicator, error) {
	var (
		comm      communicator
		evaluator *interp.Interp
	)
	evaluator, err := interp.New(interp.Options{
		ConvertError: func(err error) *session.Error { return convert(err, evaluator) },
		Input:        env.Input,
		Inspect:      func(_ context.Context, topic, arg string) (string, error) { return comm.inspect(topic, arg) },
	})
	if err != nil {
		return nil, nil, err
	}
	runtime, err := symmem.Init(symmem.Config{
		Device: env.Device, Index: env.LocalRank, Backend: env.Backend, Client: env.Client, Joining: env.Incarnation > 1, Caller: evaluator.Position,
	})
	if err != nil {
		return nil, nil, explain(err, evaluator)
	}
	comm = communicator{runtime, evaluator}
	return evaluator, comm, nil
}

// inspect answers the topics that are about the device.
func (c communicator) inspect(topic, arg string) (string, error) {
	switch topic {
	case session.TopicCaps:
		return c.runtime.Caps().String(), nil
	case session.TopicTop:
		return c.runtime.Top()
	case session.TopicTopo:
		return c.runtime.Topo()
	case session.TopicTrace:
		return c.trace(arg)
	}
	return "", fmt.Errorf("there is no topic %q", topic)
}

// trace starts a trace, or stops it and returns it.
func (c communicator) trace(arg string) (string, error) {
	if arg == "start" {
		return "", symmem.Maybe(c.runtime.StartTrace)
	}
	ops, more := c.runtime.StopTrace()
	t := session.Trace{More: more}
	for _, o := range ops {
		traced := session.TracedOp{Op: o.Op, At: line(c.places, o.Caller), Stream: o.Stream, Begin: o.Begin, Took: o.Took}
		for _, w := range o.Waits {
			traced.Waits = append(traced.Waits, session.TracedWait(w))
		}
		t.Ops = append(t.Ops, traced)
	}
	text, err := json.Marshal(t)
	return string(text), err
}
