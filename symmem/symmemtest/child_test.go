package symmemtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem"
)

// childMain is the main function of a rank: it joins the world and carries out the parent's orders
// until the parent closes the connection.
func childMain() int {
	control := os.NewFile(4, "control")
	in, out := json.NewDecoder(control), json.NewEncoder(control)
	t, err := join()
	if err != nil {
		out.Encode(report{Failed: true, Log: err.Error()})
		return 1
	}
	t.ready = func() { out.Encode(report{}) }
	t.ready()
	orders := make(chan order)
	go func() {
		defer close(orders)
		for {
			var o order
			if err := in.Decode(&o); err != nil {
				return
			}
			if o.Abort != "" {
				t.rt.Abort(o.Abort)
				continue
			}
			orders <- o
		}
	}()
	for o := range orders {
		if o.Recover {
			lost, err := t.rt.Recover(context.Background(), o.Replaced)
			t.kept["lost"] = lost
			out.Encode(report{Failed: err != nil, Log: fmt.Sprint(err)})
			continue
		}
		out.Encode(t.runCase(o.Run))
	}
	if err := t.rt.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// join makes the world. Before that, it makes the rank's own worlds that the table of misuses
// needs.
func join() (*T, error) {
	rank, err1 := strconv.Atoi(os.Getenv(rankVariable))
	size, err2 := strconv.Atoi(os.Getenv(sizeVariable))
	file := os.NewFile(3, "bootstrap")
	conn, err3 := net.FileConn(file)
	if err := errors.Join(err1, err2, err3, file.Close()); err != nil {
		return nil, err
	}
	parts, err := bootstrap.ParseParts(os.Getenv(hostVariable), size)
	if err != nil {
		return nil, err
	}
	client, err := bootstrap.NewClient(conn, rank, size, os.Getenv(dirVariable), parts)
	if err != nil {
		return nil, err
	}
	device := os.Getenv("SYMMTEST_DEVICE")
	t := &T{rank: rank, size: size, client: client, kept: map[string]any{}}
	if os.Getenv(othersVariable) != "" {
		if t.elsewhere, err = makeElsewhere(device, rank); err != nil {
			return nil, err
		}
	}
	t.rt, err = symmem.Init(symmem.Config{Device: device, Index: rank, LocalSize: size, Client: client, Joining: os.Getenv(joinVariable) != ""})
	if err == nil && os.Getenv(sanitizeVariable) != "" {
		err = symmem.Maybe(func() { t.rt.Sanitize(true, 0) })
	}
	return t, err
}

// T is the argument of a case on one rank.
type T struct {
	rt         *symmem.Runtime
	rank, size int
	client     *bootstrap.Client
	kept       map[string]any // values that a case leaves for a later one
	elsewhere  *elsewhere     // for the table of misuses
	exchanges  uint64         // likewise
	bereft     bool           // a rank was killed in this case, so not all ranks can meet
	ready      func()         // reports to the parent that this rank has reached this point

	mu     sync.Mutex
	failed bool
	log    strings.Builder
}

// stop ends a case from any depth of calls.
type stop struct{}

func (t *T) runCase(name string) report {
	all := slices.Concat(cases, replacementCases, hostCases, []testCase{replacementHostCase}, networkCases, overHostsCases,
		libraryCases, heapCases, remoteCases, shmemCases, []testCase{{name: "KernelSeeds", run: kernelSeedsCase},
			{name: "RandomCalls", run: randomCallsCase}, {name: "NcclExamples", run: ncclExamplesCase}}, lossCases, kernelLossCases(),
		tokenSeedCases(), survivorCases)
	var tried tried
	t.bereft = false
	run := func(t *T) { tried = t.misuse(strings.TrimPrefix(name, misusePrefix)) }
	if i := slices.IndexFunc(all, func(c testCase) bool { return c.name == name }); i >= 0 {
		run = all[i].run
	}
	t.failed = false
	t.log.Reset()
	func() {
		defer func() {
			switch r := recover().(type) {
			case nil, stop:
			case *symmem.Error:
				t.Errorf("%v%s", r, where())
			default:
				t.Errorf("panic: %v\n%s", r, debug.Stack())
			}
		}()
		run(t)
		if !t.bereft {
			t.leftClean(slices.Contains(wrongOnPurpose, name))
		}
	}()
	t.mu.Lock()
	defer t.mu.Unlock()
	return report{Failed: t.failed, Log: t.log.String(), Tallies: t.rt.Tallies(), Tried: tried}
}

// Errorf records a failure.
func (t *T) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
	fmt.Fprintf(&t.log, format+"\n", args...)
}

// Fatalf records a failure and ends the case on this rank.
func (t *T) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	panic(stop{})
}

// equal compares exactly.
func (t *T) equal(what string, got, want any) {
	if !same(got, want) {
		t.Errorf("%s: got %v, want %v%s", what, clip(got), clip(want), where())
	}
}

// same is reflect.DeepEqual, which takes as long for long slices as all else in a case.
func same(got, want any) bool {
	switch g := got.(type) {
	case []float64:
		if w, ok := want.([]float64); ok {
			return (g == nil) == (w == nil) && slices.Equal(g, w)
		}
	case []int:
		if w, ok := want.([]int); ok {
			return (g == nil) == (w == nil) && slices.Equal(g, w)
		}
	}
	return reflect.DeepEqual(got, want)
}

// where returns the line of the case that called a helper.
func where() string {
	for _, line := range strings.Split(string(debug.Stack()), "\n") {
		if line = strings.TrimSpace(line); strings.Contains(line, "_test.go:") && !strings.Contains(line, "child_test.go") {
			file, _, _ := strings.Cut(line, " ")
			return " (" + file[strings.LastIndexByte(file, '/')+1:] + ")"
		}
	}
	return ""
}

func clip(v any) string {
	s := fmt.Sprint(v)
	if len(s) > 400 {
		s = s[:400] + "…"
	}
	return s
}

// refused calls f, which must fail with an error of the given kind whose message contains all of
// words.
func (t *T) refused(kind symmem.Kind, f func(), words ...string) *symmem.Error {
	err := symmem.Maybe(f)
	var e *symmem.Error
	if !errors.As(err, &e) {
		t.Fatalf("not refused; expected %s %q%s", kind, words, where())
	}
	if e.Kind != kind {
		t.Errorf("refused as %s, not as %s: %v%s", e.Kind, kind, e, where())
	}
	if e.Rank != t.rank {
		t.Errorf("the error is of rank %d: %v%s", e.Rank, e, where())
	}
	for _, word := range words {
		if !strings.Contains(e.Error(), word) {
			t.Errorf("%q does not say %q%s", e, word, where())
		}
	}
	return e
}

// meet is a barrier of all ranks on the host.
func (t *T) meet() { symmem.Empty(symmem.U8, 1).Free() }

// leftClean checks that the case left no signal behind in any group, and that the sanitizer found
// nothing, unless the case is wrong on purpose.
func (t *T) leftClean(wrong bool) {
	symmem.Synchronize()
	t.meet() // no rank works any more
	for _, f := range t.rt.Findings() {
		if wrong {
			continue
		}
		t.Errorf("the sanitizer found %v in %s: %+v; %s", f.Kind, f.Memory, f.Accesses, f.Order)
	}
	for _, p := range symmem.PendingSignals() {
		t.Errorf("left behind: %s", p)
	}
	t.meet()
}

var _ io.Writer = (*child)(nil)
