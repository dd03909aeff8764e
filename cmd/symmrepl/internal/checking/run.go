package checking

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/casefile"
	"github.com/symmrepl/symmrepl/session"
)

// Options holds the settings of a run.
type Options struct {
	Ranks    []int         // the numbers of ranks, for cases that do not say
	Orders   int           // the orders in which each case runs
	Seed     int64         // of the first
	Timeout  time.Duration // of a case in one order
	Sessions int           // the most sessions at a time
	OnGPUs   bool          // the sanitizer finds accesses out of bounds only, so that no finding need come
	Open     func(context.Context, World) (session.Session, error)
	Report   func(*Source, Result) // is told each result as it comes; never called concurrently
}

// job is a part of the cases of one world, which one session runs.
type job struct {
	world World
	cases []item
}

// item is a case of a source.
type item struct {
	of int // the source
	casefile.Case
}

// Run runs the cases of sources and returns the results by source, case and world. It ends early
// when ctx does; the rest is NotRun then.
func Run(ctx context.Context, sources []*Source, o Options) []Result {
	all := jobs(sources, o)
	queue := make(chan job, len(all))
	for _, j := range all {
		queue <- j
	}
	close(queue)
	var mu sync.Mutex
	var results []Result
	report := func(s *Source, r Result) {
		mu.Lock()
		defer mu.Unlock()
		results = append(results, r)
		o.Report(s, r)
	}
	var wait sync.WaitGroup
	for range min(max(1, o.Sessions), len(all)) {
		wait.Go(func() {
			for j := range queue {
				r := runner{o: o, world: j.world, sources: sources, report: report}
				r.run(ctx, j.cases)
			}
		})
	}
	wait.Wait()
	slices.SortStableFunc(results, func(a, b Result) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.World.Ranks - b.World.Ranks
	})
	return results
}

// Worlds returns the worlds in which a case runs.
func (o Options) Worlds(c casefile.Case) (worlds []World) {
	ranks := c.Ranks
	if ranks == nil {
		ranks = o.Ranks
	}
	for _, n := range ranks {
		worlds = append(worlds, World{n, max(1, c.Hosts)})
	}
	return worlds
}

// jobs divides the cases among sessions.
func jobs(sources []*Source, o Options) []job {
	var worlds []World
	of := map[World][]item{}
	for i, s := range sources {
		for _, c := range s.Cases {
			for _, w := range o.Worlds(c) {
				if of[w] == nil {
					worlds = append(worlds, w)
				}
				of[w] = append(of[w], item{i, c})
			}
		}
	}
	parts := max(1, o.Sessions/max(1, len(worlds)))
	var all []job
	for _, w := range worlds {
		for part := range slices.Chunk(of[w], max(1, (len(of[w])+parts-1)/parts)) {
			all = append(all, job{w, part})
		}
	}
	return all
}

// runner runs cases in one world.
type runner struct {
	o       Options
	world   World
	sources []*Source
	report  func(*Source, Result)

	session  session.Session          // nil: none is open
	compiled map[int][]*session.Error // by source, since the ranks are fresh
	output   strings.Builder          // of the cell that runs
}

// run runs cases one after the other.
func (r *runner) run(ctx context.Context, cases []item) {
	defer r.end()
	for _, c := range cases {
		s := r.sources[c.of]
		result := Result{File: s.Name, Case: c.Name, Line: c.Line, World: r.world, Status: NotRun}
		switch err := r.ready(ctx); {
		case ctx.Err() != nil:
			result.Why = "interrupted"
		case err != nil:
			result.Status, result.Why = Failed, fmt.Sprintf("no session of %d ranks: %v", r.world.Ranks, err)
		default:
			r.check(ctx, c, &result)
		}
		r.report(s, result)
	}
}

// end closes the session.
func (r *runner) end() {
	if r.session != nil {
		r.session.Close()
	}
	r.session = nil
}

// ready opens a session, if none is open.
func (r *runner) ready(ctx context.Context) error {
	if r.session != nil || ctx.Err() != nil {
		return nil
	}
	s, err := r.o.Open(ctx, r.world)
	if err != nil {
		return err
	}
	r.session = s
	return r.begin(ctx)
}

// begin prepares fresh ranks.
func (r *runner) begin(ctx context.Context) error {
	r.compiled = map[int][]*session.Error{}
	if errs := r.eval(ctx, beginning(), nil).Errors; len(errs) > 0 {
		r.end()
		return errs[0]
	}
	return nil
}

// variable returns the variable of a source's kernels.
func variable(source int) string { return fmt.Sprint(moduleVariable, source) }

// check runs a case in all orders.
func (r *runner) check(ctx context.Context, c item, result *Result) {
	s := r.sources[c.of]
	start := time.Now()
	defer func() { result.Time = time.Since(start) }()
	r.output.Reset()
	if errs := r.compile(ctx, c); len(errs) > 0 {
		judge(c.Case, result, errs, nil, r.o.OnGPUs)
		return
	}
	cells := []session.Cell{running(s, c.Case, variable(c.of))}
	if s.cells != nil {
		cells = nil
		for _, part := range s.cells {
			cell := session.Cell{Name: s.Name, Line: part.Line, Source: part.Source, Silent: true}
			if part.Ranks != "" {
				var err error
				if cell.Ranks, err = session.ParseRanks(part.Ranks, r.world.Ranks); err != nil {
					result.Status, result.Why = Failed, fmt.Sprintf("%s:%d: %v", s.Name, part.Line, err)
					return
				}
			}
			cells = append(cells, cell)
		}
	}
	var found session.Findings
	var errs []*session.Error
	for k := range max(1, r.o.Orders) {
		seed := r.o.Seed + int64(k)
		if wrong := r.order(ctx, s, c, cells, seed, &found, result); len(wrong) > 0 {
			if len(errs) == 0 {
				result.Output = s.places(r.output.String())
			}
			errs = append(errs, wrong...)
			if result.Why != "" || !r.again(ctx, c, wrong) {
				break
			}
		}
		if ctx.Err() != nil {
			break
		}
		r.output.Reset()
	}
	if ctx.Err() != nil {
		result.Status, result.Why = NotRun, "interrupted"
		return
	}
	judge(c.Case, result, alike(errs), found.List(), r.o.OnGPUs)
	if result.Status == Passed {
		result.Output = ""
	}
}

// order runs the cells of a case in the order of a seed, and returns its errors.
func (r *runner) order(ctx context.Context, s *Source, c item, cells []session.Cell, seed int64, found *session.Findings,
	result *Result) []*session.Error {
	limited, stop := context.WithTimeoutCause(ctx, r.o.Timeout, session.Limit(r.o.Timeout))
	defer stop()
	for i, cell := range cells {
		var watch *session.Sanitizing
		if i == 0 {
			watch = &session.Sanitizing{On: true, Seed: seed}
		}
		reply := r.eval(limited, cell, watch)
		for _, f := range reply.Findings {
			found.Add(s.placedFinding(f))
		}
		if len(reply.Errors) == 0 {
			continue
		}
		if limit, over := limitIsOver(context.Cause(limited)); over {
			result.Why = fmt.Sprintf("not done after %v", time.Duration(limit))
		}
		for _, e := range reply.Errors {
			s.placed(e)
		}
		return reply.Errors
	}
	return nil
}

// again makes the session ready after a case with errors, and reports whether the case can run again.
// What the case left is freed; without that the ranks are replaced, or else the session.
func (r *runner) again(ctx context.Context, c item, errs []*session.Error) bool {
	if ctx.Err() != nil {
		return false
	}
	within, stop := context.WithTimeout(ctx, r.o.Timeout)
	defer stop()
	if lostRank(errs) || len(r.eval(within, freeing(), nil).Errors) > 0 {
		if err := r.session.Restart(within, nil, false, nil); err != nil {
			r.end()
		} else if r.begin(ctx) != nil {
			return false
		}
	}
	return r.ready(ctx) == nil && ctx.Err() == nil && len(r.compile(ctx, c)) == 0
}

// compile compiles the kernels of a source, once, if the case launches any, and returns the errors of
// that.
func (r *runner) compile(ctx context.Context, c item) []*session.Error {
	source := c.of
	if errs, done := r.compiled[source]; done || !c.Launches() {
		return said(errs)
	}
	s := r.sources[source]
	errs := r.eval(ctx, compiling(s, variable(source)), nil).Errors
	for _, e := range errs {
		s.placed(e)
		if e.Kind == session.KindCompile && len(s.text.Lacks) > 0 {
			e.Hint = strings.TrimLeft(e.Hint+"; ", "; ") + "headers were left out, since they are not found: " + strings.Join(s.text.Lacks, ", ") +
				"; give -I FOLDER if a kernel needs one"
		}
	}
	if ctx.Err() == nil {
		r.compiled[source] = errs
	}
	return errs
}

// said returns an error for a later case whose kernels do not compile: the first one has told why.
func said(errs []*session.Error) []*session.Error {
	if len(errs) == 0 {
		return nil
	}
	first := errs[0]
	return []*session.Error{{Kind: first.Kind, Ranks: first.Ranks, Peer: -1, File: first.File, Line: first.Line, Column: first.Column,
		Msg: "the kernels of the file do not compile, as told before"}}
}

// eval evaluates a cell and keeps its output. Watching begins anew with a cell that says so.
func (r *runner) eval(ctx context.Context, c session.Cell, watch *session.Sanitizing) session.Reply {
	if watch != nil {
		c.Sanitize = watch
	}
	c.Stop = "Ctrl-C"
	c.Output = func(out session.Output) {
		if r.output.Len() < maxOutput {
			r.output.WriteString(withRanks(out, r.world.Ranks))
		}
	}
	return r.session.Eval(ctx, c)
}

// maxOutput bounds the output of a case that is kept, in bytes.
const maxOutput = 64 << 10

// withRanks returns an output with its ranks at each line.
func withRanks(o session.Output, size int) string {
	prefix := session.Prefix(o.Ranks, size)
	var b strings.Builder
	for line := range strings.Lines(o.Text) {
		b.WriteString(prefix + line)
		if !strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// alike returns errors of several orders without those that came before.
func alike(errs []*session.Error) (list []*session.Error) {
	seen := map[string]bool{}
	for _, e := range errs {
		if key := string(e.Kind) + e.Error() + fmt.Sprint(e.Ranks); !seen[key] {
			seen[key] = true
			list = append(list, e)
		}
	}
	return list
}
