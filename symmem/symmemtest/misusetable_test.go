package symmemtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/symmem"
)

// The table of misuses
//
// The test calls every function of package symmem, and every method that reflection finds on its
// types, with every misuse of each parameter's type, while the other arguments are right. It
// searches right arguments among a few values of each type, so that a new operation is covered
// without further work. A misuse must be refused by an *Error that names the operation, or be among
// the acceptances, whose reasons are in the documentation. No call may panic in another way or
// hang, no rank may die, and the next collective operation must be right.

const (
	misusePrefix = "misuse "        // prefix of an order that names an operation
	callLimit    = 15 * time.Second // a call that takes longer on a quiet machine hangs
	searchLimit  = 60000            // maximum number of calls in the search for right arguments
)

// operation is a function, or a method whose receiver is the first parameter.
type operation struct {
	name   string // "symmem.AllReduce", "Tensor.Fill"
	f      reflect.Value
	method bool
}

// apart maps the operations that the table leaves out to the reason.
var apart = map[string]string{
	"symmem.Init":      "makes a world: TestInitMisuse",
	"symmem.Start":     "makes a world: TestStart",
	"symmem.MustStart": "ends the program",

	"Timeline.Save":    "writes a file: Traced",
	"Tensor.Save":      "writes files: Files, FilesRefused",
	"Runtime.SaveFile": "likewise",
	"symmem.SaveFile":  "likewise",

	"Tensor.ExportTo": "needs a GPU, and a process that listens: Export",

	"Runtime.FromTorch": "needs a program that lends its memory: TestLent",
	"Group.FromTorch":   "likewise",
	"symmem.FromTorch":  "likewise",

	"Runtime.LoadKernel": "needs a GPU, and a file: LoadKernel, LoadKernelRefused",
	"symmem.LoadKernel":  "likewise",

	"Runtime.TuneNetwork": "needs a world that spans hosts: TestNetwork",
}

// operations lists the functions of package symmem and the methods of its types.
func operations() (list []operation) {
	for name, f := range functions {
		if apart[name] == "" {
			list = append(list, operation{name, reflect.ValueOf(f), !strings.HasPrefix(name, "symmem.")})
		}
	}
	slices.SortFunc(list, func(a, b operation) int { return strings.Compare(a.name, b.name) })
	return list
}

// TestMisuse runs the table on every device, with two ranks.
func TestMisuse(t *testing.T) {
	for _, device := range devices(t) {
		t.Run(device, func(t *testing.T) {
			needRanks(t, device, 2)
			t.Setenv(othersVariable, "yes")
			var (
				w    *ranks
				sum  tried
				ran  int
				used = map[int]bool{}
			)
			for _, o := range operations() {
				if w == nil {
					w = start(t, device, 2)
				}
				t.Run(o.name, func(sub *testing.T) {
					ran++
					w.run(sub, misusePrefix+o.name)
					for _, c := range w.children {
						for _, i := range c.tried.Accepted {
							used[i] = true
						}
					}
					sum.Calls += w.children[0].tried.Calls
					sum.Refused += w.children[0].tried.Refused
				})
				if w.died {
					w.kill()
					w = nil
				}
			}
			t.Logf("%d misuses, %d of them refused and the others accepted", sum.Calls, sum.Refused)
			for i, a := range acceptances {
				if !used[i] && ran == len(operations()) && !t.Failed() {
					t.Errorf("%q of %s is not accepted any more", a.misuse, a.ops)
				}
			}
		})
	}
}

// kill ends the other ranks after one has died.
func (w *ranks) kill() {
	for _, c := range w.children {
		c.killed = true
		c.process.Kill()
	}
}

// tried counts the calls of one operation.
type tried struct {
	Calls, Refused int
	Accepted       []int // indices of the acceptances that were needed
}

// table is the state that all calls of one operation share on one rank.
type table struct {
	*T
	o     operation
	fix   *fixtures
	right []reflect.Value // arguments that the operation accepts, if found
	found bool
	tried tried
	limit time.Duration // of a call
}

// misuse calls one operation with all its misuses. It is collective.
func (t *T) misuse(name string) tried {
	i := slices.IndexFunc(operations(), func(o operation) bool { return o.name == name })
	m := &table{T: t, o: operations()[i], fix: t.fixtures(), limit: pace.Unhurried(callLimit)}
	typ := m.o.f.Type()
	if typ.NumIn() > 0 && !(m.o.method && typ.NumIn() == 1) {
		m.search()
	} else if typ.NumIn() == 1 {
		m.right = []reflect.Value{m.fix.good(typ.In(0))[0]}
	}
	for p := range typ.NumIn() {
		for _, bad := range m.bad(p) {
			m.call(p, bad)
		}
	}
	if m.found || typ.NumIn() == 0 {
		m.inStates()
	}
	m.fix.free()
	if err := symmem.Maybe(func() { m.elsewhere.joining.rt.NewStream().Free() }); err != nil {
		m.Errorf("the world that has not joined is of no use any more: %v", err)
	}
	t.stillSums()
	return m.tried
}

// search finds arguments that the operation accepts.
func (m *table) search() {
	typ := m.o.f.Type()
	choices := make([][]reflect.Value, typ.NumIn())
	for p := range choices {
		if typ.IsVariadic() && p == typ.NumIn()-1 {
			choices[p] = m.fix.goodLists(typ.In(p))
		} else {
			choices[p] = m.fix.good(typ.In(p))
		}
		if len(choices[p]) == 0 {
			m.Fatalf("there are no values of type %v: add some to fixtures.good", typ.In(p))
		}
	}
	m.right = make([]reflect.Value, typ.NumIn())
	off := []string{ // reasons for which nothing is right on this device
		"NCCL needs the cuda device",
		"comm cannot be adopted", "has a communicator of NCCL already", // only other code makes communicators to adopt
	}
	if why := symmem.Caps().MulticastWhy; why != "" {
		off = append(off, why)
	}
	for n := 0; ; {
		accepted := -1
		for ; n < searchLimit && pick(m.right, choices, n); n++ {
			o := m.try(m.right)
			if o.broken == "" && (o.refused == nil || o.late) {
				accepted = n
				break
			}
			if o.refused != nil && slices.ContainsFunc(off, func(why string) bool { return strings.Contains(o.refused.Msg, why) }) {
				return // no arguments are right on this device
			}
		}
		all := m.agree(accepted)
		if accepted < 0 && slices.Max(all) < 0 {
			m.Errorf("none of the arguments that were tried is accepted: add the right ones to fixtures.good")
			pick(m.right, choices, 0)
			return
		}
		if slices.Min(all) == slices.Max(all) {
			m.found = pick(m.right, choices, accepted)
			return
		}
		// some rank has not accepted it, so it is not right
		n = slices.Min(slices.DeleteFunc(all, func(n int) bool { return n < 0 })) + 1
	}
}

// pick sets args to the n-th of all combinations of choices.
func pick(args []reflect.Value, choices [][]reflect.Value, n int) bool {
	for p := range slices.Backward(choices) {
		args[p] = choices[p][n%len(choices[p])]
		n /= len(choices[p])
	}
	return n == 0
}

// misused is a wrong value of a type.
type misused struct {
	name   string
	value  reflect.Value
	always bool // every operation that does not document it must refuse it
}

// bad lists the misuses of a parameter.
func (m *table) bad(p int) (list []misused) {
	typ := m.o.f.Type()
	switch {
	case m.o.method && p == 0:
		list = slices.DeleteFunc(m.fix.bad(typ.In(p)), func(bad misused) bool { return strings.Contains(bad.name, "of another world") })
		for i := range list {
			if m.o.name == "Runtime.Close" && list[i].name == "that has not joined" {
				list[i].value = reflect.ValueOf(m.elsewhere.closing)
			}
		}
		return list
	case !typ.IsVariadic() || p < typ.NumIn()-1:
		return m.fix.bad(typ.In(p))
	}
	return m.fix.badLists(typ.In(p), m.right[p])
}

// call calls the operation with one misuse, and compares the outcome with the documentation.
func (m *table) call(p int, bad misused) {
	args := slices.Clone(m.right)
	args[p] = bad.value
	typ := m.o.f.Type()
	what := fmt.Sprintf("%v %s", typ.In(p), bad.name)
	if m.o.method && p == 0 {
		what = "receiver " + bad.name
	}
	o := m.try(args)
	m.tried.Calls++
	verdict := 0
	accepted := acceptance(m.o.name, what)
	switch {
	case accepted >= 0 && o.refused == nil && !o.hung:
		m.tried.Accepted = append(m.tried.Accepted, accepted)
		verdict = 1
	case o.broken != "":
		m.Errorf("%s: %s", what, o.broken)
		verdict = 2
	case o.refused != nil:
		m.tried.Refused++
		m.judge(what, o.refused)
		if !slices.Contains([]symmem.Kind{symmem.KindMisuse, symmem.KindCompile}, o.refused.Kind) {
			verdict = 1 // the call may have issued work
		}
	default:
		verdict = 1
		if bad.always {
			m.Errorf("%s: accepted", what)
		}
	}
	all := m.agree(verdict)
	if bad.always && accepted < 0 && slices.Min(all) != slices.Max(all) && slices.Max(all) < 2 {
		m.Errorf("%s: the ranks differ: %v", what, all)
	}
}

// inStates makes the right call in states in which it may not be allowed: it must be done or
// refused, and return.
func (m *table) inStates() {
	for _, s := range []struct {
		name  string
		enter func(f func())
	}{
		{"while a graph is captured", func(f func()) { m.rt.Capture(f).Free() }},
		{"within UseMemPool", func(f func()) { m.rt.UseMemPool(f) }},
		{"within Async", func(f func()) { m.rt.Async(f).Wait() }},
		{"on another stream", func(f func()) { m.rt.OnStream(m.fix.stream, f) }},
		{"after Abort", func(f func()) { m.rt.Abort("it is tried"); f() }},
	} {
		o := m.tryCall(func() (results []reflect.Value) {
			s.enter(func() { results = m.issue(m.right) })
			return results
		})
		m.tried.Calls++
		if o.broken != "" {
			m.Errorf("%s: %s", s.name, o.broken)
		} else if o.refused != nil {
			m.tried.Refused++
		}
		m.agree(1)
	}
}

// judge checks an error's words.
func (m *table) judge(what string, e *symmem.Error) {
	// the error is from the other world
	elsewhere := strings.Contains(what, "world") || strings.Contains(what, "closed") || strings.Contains(what, "joined")
	name := plain(m.o.name[strings.IndexByte(m.o.name, '.')+1:])
	whole := plain(m.o.name)
	op := plain(e.Op)
	switch {
	case slices.Contains([]symmem.Kind{symmem.KindInterrupted, symmem.KindTimeout, symmem.KindPeer, symmem.KindFault}, e.Kind) &&
		e.Arg != "group" && !elsewhere:
		m.Errorf("%s: refused as %s: %v", what, e.Kind, e)
	case op == "" || !strings.Contains(name, op) && !strings.Contains(op, name) && !strings.Contains(whole, op) && e.Op != kernelName:
		m.Errorf("%s: the operation is %q in %v", what, e.Op, e)
	case e.Msg == "" || e.Hint == "" && e.Kind != symmem.KindCompile && e.Kind != symmem.KindInterrupted && !expectation.MatchString(e.Msg):
		m.Errorf("%s: it is not said what to do: %v", what, e)
	case e.Rank != m.rank && e.Rank != -1 && !elsewhere:
		m.Errorf("%s: the error is of rank %d: %v", what, e.Rank, e)
	}
}

// expectation matches messages that name the expected value and so need no hint.
var expectation = regexp.MustCompile(`must|expected|, not | needs? |is not |are not |cannot |there is no|has no|it has|exceeds?|overlaps|was freed|too large|more than|twice|out of the range|belongs? to|takes? `)

// plain returns a name without the parts in which its spellings differ.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// outcome is the outcome of a call.
type outcome struct {
	refused *symmem.Error
	broken  string // another panic, or a hang
	hung    bool
	late    bool // the error came from issued work
}

// try calls the operation, and waits for the issued work.
func (m *table) try(args []reflect.Value) outcome {
	return m.tryCall(func() []reflect.Value { return m.issue(args) })
}

// issue calls the operation.
func (m *table) issue(args []reflect.Value) []reflect.Value {
	if m.o.f.Type().IsVariadic() {
		return m.o.f.CallSlice(args)
	}
	return m.o.f.Call(args)
}

func (m *table) tryCall(call func() []reflect.Value) (o outcome) {
	stuck := time.AfterFunc(2*m.limit, func() {
		pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
		os.Exit(3)
	})
	defer stuck.Stop()
	watch := time.AfterFunc(m.limit, func() { m.rt.Abort("the call took too long") })
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*symmem.Error)
			if o.refused = e; !ok {
				o.broken = fmt.Sprintf("panics with %T: %v", r, r)
			}
		}
		if !watch.Stop() {
			o = outcome{hung: true, broken: fmt.Sprintf("does not return, and then: %v", o.refused)}
		}
	}()
	results := call()
	if n := len(results); n > 0 {
		if err, ok := results[n-1].Interface().(error); ok {
			if !errors.As(err, &o.refused) {
				o.broken = fmt.Sprintf("returns %T: %v", err, err)
			}
			return o
		}
	}
	if err := symmem.Maybe(symmem.Synchronize); err != nil {
		errors.As(err, &o.refused)
		o.late = true
		if o.refused.Kind == symmem.KindTimeout {
			o.refused = nil // the call was accepted, and waited for an event that does not come
		}
	}
	return o
}

// agree exchanges a number among the ranks. A positive number means that a rank has accepted its
// call; the world then recovers.
func (m *table) agree(mine int) []int {
	m.exchanges++
	data, _ := json.Marshal(mine)
	ranks := m.rt.Group().Ranks()
	all, err := m.client.Gather(context.Background(), bootstrap.Call{Group: ranks, Key: "misuse", Ordinal: m.exchanges, Op: m.o.name}, data)
	if err != nil {
		m.Fatalf("%v", err)
	}
	numbers := make([]int, len(all))
	for i := range all {
		json.Unmarshal(all[i], &numbers[i])
	}
	if slices.Max(numbers) > 0 {
		if _, err := m.rt.Recover(context.Background(), nil); err != nil {
			m.Fatalf("%v", err)
		}
	}
	return numbers
}
