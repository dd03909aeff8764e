package controller

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/shortdir"
	"github.com/symmrepl/symmrepl/session"
)

func TestAttach(t *testing.T) {
	c := launch(t, 2)
	live := Running()
	if !reflect.DeepEqual(live, []string{c.c.dir.Path}) {
		t.Fatal(live)
	}
	s, err := Attach(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	a := &console{Session: s, t: t, size: 2}
	a.want(a.eval("print RANK\nlet x 7\nvalue v"), "[0] 0\n[1] 1\n= [0,1] v\n")
	a.want(a.eval("0:fail <&>"), "! [0] panic in:1: <&>\n")
	c.want(c.eval("get x"), "= [0,1] 7\n") // it is the same session
	a.want(a.interrupted("sleep 60000", 0, 1), "! [0,1] interrupted in:1: interrupted\n")

	answers, err := a.Inspect(context.Background(), nil, session.Query{Topic: session.TopicType, Arg: "x+1"})
	if err != nil || !reflect.DeepEqual(answers, []session.Answer{{Rank: 0, Text: "0 x+1"}, {Rank: 1, Text: "1 x+1"}}) {
		t.Errorf("%+v, %v", answers, err)
	}
	if _, err := a.Inspect(context.Background(), []int{5}, session.Query{Topic: session.TopicType}); err == nil || err.Error() != "ranks [5]: ranks are 0 to 1" {
		t.Error(err)
	}
	if here, there := c.pids(), a.pids(); !reflect.DeepEqual(here, there) {
		t.Errorf("processes %v and %v", here, there)
	}
	history, err := a.History(context.Background())
	if err != nil || len(history) != 4 || history[3].Source != "sleep 60000" {
		t.Errorf("%+v, %v", history, err)
	}
	var out strings.Builder
	if err := a.Restart(context.Background(), []int{0}, false, func(o session.Output) { out.WriteString(o.Text) }); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(out.String(), "rank 0 was restarted") {
		t.Error(out.String())
	}

	// The session does not wait for a front end that has disconnected.
	a.start("sleep 60000", 0, 1)
	a.Close()
	c.want(c.eval("gather x"), "= [0,1] 01\n")
	if r := a.Eval(context.Background(), session.Cell{}); len(r.Errors) != 1 ||
		r.Errors[0].Error() != "the session has ended (attach to another one; a notebook does when its kernel is restarted)" {
		t.Errorf("%+v", r)
	}

	// The session ends under a front end.
	s, err = Attach(context.Background(), c.c.dir.Path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := s.Ranks(context.Background()); err == nil {
		t.Error("the session has ended")
	}
	if _, err := Attach(context.Background(), ""); err == nil ||
		err.Error() != "no session of yours runs on this host; start one with `symmrepl`" {
		t.Error(err)
	}
	if r := c.Eval(context.Background(), session.Cell{}); len(r.Errors) != 1 || r.Errors[0].Msg != "the session is closed" {
		t.Errorf("%+v", r)
	}
}

// TestInspect tests the workers' answers to Inspect, and the errors of workers that do not answer.
func TestInspect(t *testing.T) {
	c := launch(t, 2)
	answers, err := c.Inspect(context.Background(), []int{1}, session.Query{Topic: "weather"})
	if err != nil || len(answers) != 1 || answers[0].Err == nil || answers[0].Err.Msg != "no topic weather" {
		t.Errorf("%+v, %v", answers, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Inspect(ctx, nil, session.Query{Topic: session.TopicTop}); err != context.DeadlineExceeded {
		t.Error(err)
	}
	// It works while a cell runs.
	interrupt, shown := c.start("sleep 60000", 0, 1)
	if answers, err := c.Inspect(context.Background(), []int{0}, session.Query{Topic: session.TopicType, Arg: "y"}); err != nil || answers[0].Text != "0 y" {
		t.Errorf("%+v, %v", answers, err)
	}
	if infos, _ := c.Ranks(context.Background()); infos[0].State != "running" {
		t.Errorf("%+v", infos[0])
	}
	interrupt()
	c.want(shown(), "! [0,1] interrupted in:1: interrupted\n")
}

// A socket at which nobody answers does not hold up a front end for longer than it wants to wait.
func TestAttachToSilence(t *testing.T) {
	dir := shortdir.New(t)
	l, err := net.Listen("unix", filepath.Join(dir, attachName))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Attach(ctx, dir); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := Attach(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "has not answered") {
		t.Error(err)
	}
}

// A session answers frames of front ends that it cannot read, and goes on.
func TestWrongFrames(t *testing.T) {
	c := launch(t, 1)
	conn, err := net.Dial("unix", filepath.Join(c.c.dir.Path, attachName))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := frame.NewReader(conn, 0)
	for _, header := range []string{`{"ID": 7, "Eval": 5}`, `[]`, `{`, `"`, `{"ID": 7, "Debugs": 1, "Request": {}}`, `{"ID": 7, "Eval": {"Ranks": [9]}}`} {
		b := binary.BigEndian.AppendUint32(nil, uint32(4+len(header)))
		b = binary.BigEndian.AppendUint32(b, uint32(len(header)))
		conn.Write(append(b, header...))
		var r frontReply
		if _, err := in.Read(&r); err != nil || r.Err == "" && (r.Reply == nil || len(r.Reply.Errors) == 0) {
			t.Errorf("%s: %+v, %v", header, r, err)
		}
	}
	c.want(c.eval("value v"), "= v\n")
}
