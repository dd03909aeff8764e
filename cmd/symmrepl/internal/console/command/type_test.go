package command

import (
	"context"
	"reflect"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func TestInspectFolds(t *testing.T) {
	c, fake, out := newConsole()
	fake.OnInspect = func(ranks []int, q session.Query) []session.Answer {
		if !reflect.DeepEqual(ranks, []int{0, 1, 2}) || q != (session.Query{Topic: session.TopicType, Arg: "x + y"}) {
			t.Errorf("asked %v %+v", ranks, q)
		}
		return []session.Answer{
			{Rank: 0, Text: "int"}, {Rank: 1, Err: &session.Error{Kind: session.KindType, Msg: "undefined: x"}}, {Rank: 2, Text: "int"},
		}
	}
	c.Run(context.Background(), ":on 0-2")
	if got := c.Run(context.Background(), ":type x + y"); got != console.Failed {
		t.Errorf("outcome %v", got)
	}
	if want := "[0,2] int\n[1] undefined: x\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out, want)
	}
}
