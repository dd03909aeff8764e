// Package shadow runs code of a session on a second one, on another device, and compares the
// results: see [Shadow.Compare].
package shadow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/session"
)

// Idle is the time for which an unused second session keeps its processes and their memory.
const Idle = 5 * time.Minute

// Needs makes the cells that run code in another session: the cells of its own session that the
// code needs, and cells that save, load and run. replay.Needs satisfies it and has further methods.
type Needs interface {
	Replay() (cells []session.Cell, stale bool)
	Save(base string) session.Cell
	Load(base string) session.Cell
	Run(base string) session.Cell
}

// Tools are the functions and settings of a Shadow.
type Tools struct {
	Device string // the other one, for messages: "cpu"
	// Always reports whether each comparison of ways includes the other device, because the session
	// is on a device of another kind; otherwise only a comparison that asks for the other device
	// does.
	Always bool
	// Open starts a session on the other device, with the ranks of each host.
	Open func(ctx context.Context, hosts [][]int) (session.Session, error)
	// Of returns the needs of code from the session with a history. The needs count without an error only.
	Of func(history []session.Cell, code string) (Needs, error)
	// Differ is filediff.Compare.
	Differ func(ranks []int, got, want func(rank int) string) (names []string, first string, err error)
}

// Shadow is a second session, which is started when it is first needed, and kept. Its comparisons
// run one after the other; Close may be called at any time.
type Shadow struct {
	Tools
	main session.Session
	ran  []int // numbers of the cells that the second session has run, ascending; nil if it has to be emptied first

	mu     sync.Mutex      // guards the fields below
	second session.Session // nil if there is none
	files  *userdir.Dir    // that both sessions write and read; nil before the first comparison
	busy   bool            // a comparison is under way
	closed bool
	idle   *time.Timer // ends the second session
}

// New returns the shadow of a session.
func New(main session.Session, tools Tools) *Shadow { return &Shadow{main: main, Tools: tools} }

// Close ends the second session, for good, also while code runs on it.
func (s *Shadow) Close() { s.end(func() bool { s.closed = true; return true }) }

// end ends the second session if may, which is called with mu held, permits it.
func (s *Shadow) end(may func() bool) {
	s.mu.Lock()
	if !may() {
		s.mu.Unlock()
		return
	}
	if s.idle != nil {
		s.idle.Stop()
	}
	second, files := s.second, s.files
	s.second, s.files = nil, nil
	s.mu.Unlock()
	if second != nil {
		second.Close()
	}
	if files != nil {
		files.Remove()
	}
}

// begin returns the path of the folder for files.
func (s *Shadow) begin() (folder string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = true
	if s.idle != nil {
		s.idle.Stop()
	}
	if s.files == nil && !s.closed {
		s.files, err = userdir.NewShared()
	}
	switch {
	case err != nil:
		return "", err
	case s.files == nil:
		return "", errEnded
	}
	return s.files.Path, nil
}

var errEnded = errors.New("the session has ended")

// rest ends the second session after a while, unless it is used before.
func (s *Shadow) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
	s.idle = time.AfterFunc(Idle, func() { s.end(func() bool { return !s.busy }) })
}

// open returns the second session, and starts it if there is none.
func (s *Shadow) open(ctx context.Context, hosts [][]int) (session.Session, error) {
	s.mu.Lock()
	second := s.second
	s.mu.Unlock()
	if second != nil {
		return second, nil
	}
	second, err := s.Open(ctx, hosts)
	if err != nil {
		return nil, fmt.Errorf("its session does not start: %w", err)
	}
	s.ran = []int{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		second.Close()
		return nil, errEnded
	}
	s.second = second
	return second, nil
}

// Way is the outcome of the code on the second device.
type Way struct {
	Refused string // why it could not; "" if it did
	Took    time.Duration
	Differs string   // the first difference; "" if there is none
	Changed []string // the names of the variables that the code has changed in the main session
}

// Comparing is a comparison between its two steps.
type Comparing struct {
	s       *Shadow
	folder  string // for files
	needs   Needs
	refused string
	size    int
}

// Begin keeps the values that code can see, before it runs on the main session. End must follow.
func (s *Shadow) Begin(ctx context.Context, code string) *Comparing {
	c := &Comparing{s: s}
	if err := c.begin(ctx, code); err != nil {
		c.refused = err.Error()
	}
	return c
}

func (c *Comparing) begin(ctx context.Context, code string) (err error) {
	if c.folder, err = c.s.begin(); err != nil {
		return err
	}
	history, err := c.s.main.History(ctx)
	if err != nil {
		return err
	}
	if c.needs, err = c.s.Of(history, code); err != nil {
		return err
	}
	infos, err := c.s.main.Ranks(ctx)
	if err != nil {
		return err
	}
	c.size = len(infos)
	if err := run(ctx, c.s.main, c.needs.Save(c.base("before"))); err != nil {
		return err
	}
	for rank := range c.size {
		if _, err := os.Stat(c.file("before", rank, plain)); err != nil {
			return fmt.Errorf("rank %d has saved its values, but not where this process sees them: %w (is it on another host? %s names a folder that all hosts share)",
				rank, err, userdir.SharedVariable)
		}
	}
	return nil
}

// The ends of the names of files, as package replay writes them.
const (
	tensors = ".safetensors"
	plain   = ".json"
	result  = ".result" + tensors
)

// base begins the names of the files of a moment: "before", or after the code "main" and "second".
func (c *Comparing) base(moment string) string { return c.folder + "/" + moment + "-" }

func (c *Comparing) file(moment string, rank int, end string) string {
	return fmt.Sprint(c.base(moment), rank, end)
}

// End runs the code once on both sessions, each time from the values that Begin has kept, and
// compares the variables, the tensor with which the code ends, and the output. In the main session
// everything is then as after one run of the code.
func (c *Comparing) End(ctx context.Context) Way {
	defer c.Drop()
	if c.refused != "" {
		return Way{Refused: c.refused}
	}
	want, err := c.once(ctx, c.s.main, "main")
	if err != nil {
		return Way{Refused: err.Error()}
	}
	second, err := c.prepare(ctx)
	if err != nil {
		return Way{Refused: err.Error()}
	}
	got, err := c.once(ctx, second, "second")
	if _, stale := c.needs.Replay(); stale || err != nil {
		c.s.ran = nil
	}
	if err != nil {
		return Way{Refused: "it fails on the " + c.s.Device + " device: " + err.Error()}
	}
	w := Way{Took: got.took}
	if w.Differs, err = c.differ(got, want); err != nil {
		return Way{Refused: err.Error()}
	}
	if w.Changed, err = c.changed(want); err != nil {
		return Way{Refused: err.Error()}
	}
	return w
}

// Drop ends a comparison without the code, which has failed on the main session.
func (c *Comparing) Drop() {
	files, _ := filepath.Glob(c.base("*") + "*")
	for _, file := range files {
		os.Remove(file)
	}
	c.s.rest()
}

// outcome is the outcome of the code in a session.
type outcome struct {
	took    time.Duration // of the slowest rank
	printed []string      // of each rank
}

// once gives a session the values, runs the code once, and keeps the values then.
func (c *Comparing) once(ctx context.Context, s session.Session, moment string) (outcome, error) {
	o := outcome{printed: make([]string, c.size)}
	if err := run(ctx, s, c.needs.Load(c.base("before"))); err != nil {
		return o, err
	}
	code := c.needs.Run(c.base(moment))
	code.Name, code.Output = name, func(out session.Output) {
		if out.Stream != session.Note {
			for _, rank := range out.Ranks {
				o.printed[rank] += out.Text
			}
		}
	}
	reply := s.Eval(ctx, code)
	if err := failure(reply); err != nil {
		return o, err
	}
	for _, v := range reply.Values {
		took, _ := time.ParseDuration(v.Text)
		o.took = max(o.took, took)
	}
	return o, run(ctx, s, c.needs.Save(c.base(moment)))
}

// name is the name of a comparison's cells in positions.
const name = "compare"

// run runs a cell that is not recorded.
func run(ctx context.Context, s session.Session, cell session.Cell) error {
	cell.Name = name
	return failure(s.Eval(ctx, cell))
}

// failure is the first error of a cell.
func failure(r session.Reply) error {
	if len(r.Errors) == 0 {
		return nil
	}
	e := r.Errors[0]
	text := e.Msg
	if e.Op != "" && e.Op != name {
		text = e.Op + ": " + text
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return errors.New(text)
}

// prepare makes the second session ready for the code: it runs the cells that it has not run yet.
func (c *Comparing) prepare(ctx context.Context) (session.Session, error) {
	s := c.s
	hosts, err := c.hosts(ctx)
	if err != nil {
		return nil, err
	}
	second, err := s.open(ctx, hosts)
	if err != nil {
		return nil, err
	}
	cells, _ := c.needs.Replay()
	next := slices.DeleteFunc(slices.Clone(cells), func(cell session.Cell) bool { return slices.Contains(s.ran, cell.ID) })
	if s.ran == nil || len(next) > 0 && len(s.ran) > 0 && next[0].ID < s.ran[len(s.ran)-1] {
		if err := second.Restart(ctx, nil, false, nil); err != nil {
			return nil, err
		}
		s.ran, next = []int{}, cells
	}
	for _, cell := range next {
		again := session.Cell{Name: cmp.Or(cell.Name, fmt.Sprintf("cell[%d]", cell.ID)), Line: cell.Line, Source: cell.Source,
			Typed: cell.Typed, Ranks: cell.Ranks, Folder: cell.Folder, Silent: true}
		if err := failure(second.Eval(ctx, again)); err != nil {
			s.ran = nil
			return nil, fmt.Errorf("cell %d fails on the %s device: %w", cell.ID, s.Device, err)
		}
		s.ran = append(s.ran, cell.ID)
	}
	return second, nil
}

// hosts lists the ranks of each part of the world that maps each other's memory.
func (c *Comparing) hosts(ctx context.Context) ([][]int, error) {
	answers, err := c.s.main.Inspect(ctx, nil, session.Query{Topic: session.TopicTopo})
	if err != nil {
		return nil, err
	}
	var hosts [][]int
	for _, a := range answers {
		switch {
		case a.Err != nil:
			return nil, a.Err
		case a.Topology == nil:
			return nil, fmt.Errorf("rank %d does not say which host it is on", a.Rank)
		}
		for len(hosts) <= a.Topology.Part {
			hosts = append(hosts, nil)
		}
		hosts[a.Topology.Part] = append(hosts[a.Topology.Part], a.Rank)
	}
	return hosts, nil
}

// differ returns the first difference.
func (c *Comparing) differ(got, want outcome) (string, error) {
	for _, end := range []string{tensors, result} {
		var ranks []int
		for rank := range c.size {
			_, missing := os.Stat(c.file("second", rank, end))
			_, missingToo := os.Stat(c.file("main", rank, end))
			switch {
			case missing == nil && missingToo == nil:
				ranks = append(ranks, rank)
			case missing == nil || missingToo == nil:
				return fmt.Sprintf("rank %d has tensors on one of the devices only", rank), nil
			}
		}
		_, text, err := c.s.Differ(ranks,
			func(rank int) string { return c.file("second", rank, end) }, func(rank int) string { return c.file("main", rank, end) })
		if err != nil || text != "" {
			return text, err
		}
	}
	for rank := range c.size {
		after, err := c.values("main", rank)
		if err != nil {
			return "", err
		}
		there, err := c.values("second", rank)
		if err != nil {
			return "", err
		}
		for _, name := range differing(after, there) {
			return fmt.Sprintf("%s on rank %d: %s, not %s", name, rank, short(there[name]), short(after[name])), nil
		}
	}
	for rank := range c.size {
		if got.printed[rank] != want.printed[rank] {
			a, b := strings.Split(got.printed[rank], "\n"), strings.Split(want.printed[rank], "\n")
			line := 0
			for line < min(len(a), len(b))-1 && a[line] == b[line] {
				line++
			}
			return fmt.Sprintf("line %d that rank %d prints: %q, not %q", line+1, rank, short(a[line]), short(b[line])), nil
		}
	}
	return "", nil
}

// values reads the plain data of a rank, by its holders.
func (c *Comparing) values(moment string, rank int) (map[string]json.RawMessage, error) {
	text, err := os.ReadFile(c.file(moment, rank, plain))
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	return values, json.Unmarshal(text, &values)
}

// differing returns the names under which two sets of values differ, sorted.
func differing(a, b map[string]json.RawMessage) (names []string) {
	for name := range a {
		if string(a[name]) != string(b[name]) {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// short is the beginning of a text that is long.
func short[T ~string | ~[]byte](text T) string {
	const most = 40
	if r := []rune(string(text)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(text)
}

// changed lists the variables that the code has changed in the main session.
func (c *Comparing) changed(want outcome) (list []string, err error) {
	add := func(what string) {
		if !slices.Contains(list, what) {
			list = append(list, what)
		}
	}
	for rank := range c.size {
		if _, err := os.Stat(c.file("main", rank, tensors)); err == nil {
			names, _, err := c.s.Differ([]int{rank},
				func(rank int) string { return c.file("main", rank, tensors) },
				func(rank int) string { return c.file("before", rank, tensors) })
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				add(name)
			}
		}
		if _, err := os.Stat(c.file("main", rank, result)); err == nil {
			add("the result")
		}
		before, err := c.values("before", rank)
		if err != nil {
			return nil, err
		}
		after, err := c.values("main", rank)
		if err != nil {
			return nil, err
		}
		for _, name := range differing(before, after) {
			add(name)
		}
		if want.printed[rank] != "" {
			add("the output")
		}
	}
	return list, nil
}
