package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/checking"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/kerneltext"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/internal/wholefile"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/controller"
)

// caseLimit is the default of --timeout for a case of check.
const caseLimit = time.Minute

// checkSessions is the default of -j.
const checkSessions = 2

// checkRanks are the default of -n for check.
var checkRanks = []int{2, 4}

// checkCases runs symmrepl check PATH....
func checkCases(ctx context.Context, o options, args []string) (int, error) {
	if len(args) == 0 {
		return 0, misused("check needs files with cases, or folders: symmrepl check tests/")
	}
	if _, launched, _ := controller.FromEnviron(os.Environ()); launched {
		return 0, misused("check starts its ranks itself: run it without a launcher, and give -n")
	}
	if o.sessions < 0 {
		return 0, misused("-j %d: a number from 1 on is expected", o.sessions)
	}
	if o.device == "auto" {
		o.device = "cpu"
	}
	if !emulated(o.device) {
		if err := o.orderOnGPUs(); err != nil {
			return 0, misused("%v", err)
		}
	}
	sources, err := o.sources(args)
	if err != nil {
		return 0, err
	}
	files, err := o.resultFiles()
	if err != nil {
		return 0, err
	}
	defer files.abandon()
	left := map[string]int{}
	run := o.checking()
	for _, s := range sources {
		for _, c := range s.Cases {
			left[s.Name] += len(run.Worlds(c))
		}
	}
	p := &checking.Printer{Out: stdout, Verbose: o.verbose, Colour: render.WantsColour(os.Stdout), Left: left}
	if o.json {
		p.Out = io.Discard
	}
	run.Report = p.Result
	results := checking.Run(ctx, sources, run)
	if o.json {
		if err := checking.JSON(stdout, results); err != nil {
			return statusFailed, err
		}
	}
	if err := files.write(results); err != nil {
		return statusFailed, err
	}
	fmt.Fprintln(os.Stderr, checking.Summary(results))
	if slices.ContainsFunc(results, func(r checking.Result) bool { return r.Status != checking.Passed }) {
		return statusFailed, nil
	}
	return statusOK, nil
}

// sources returns the files with cases, those that --only leaves.
func (o options) sources(paths []string) ([]*checking.Source, error) {
	given := kerneltext.Options{Folders: o.folders, Defines: o.defines}
	var commands checking.Commands
	if o.build != "" {
		var err error
		if commands, err = checking.ReadCommands(o.build); err != nil {
			return nil, misused("-p: %v", err)
		}
	}
	sources, err := checking.Find(paths, func(name string) kerneltext.Options { return commands.Of(name, given) })
	if err != nil {
		return nil, misused("%v", err)
	}
	n := 0
	for _, s := range sources {
		kept := s.Cases[:0]
		for _, c := range s.Cases {
			if strings.Contains(c.Name, o.only) {
				kept = append(kept, c)
			}
		}
		s.Cases = kept
		n += len(kept)
	}
	switch {
	case n == 0 && o.only != "":
		return nil, misused("no case has a name that contains %s", o.only)
	case n == 0:
		return nil, misused("there are no cases in %s: a case is a comment that begins with // symm: test NAME", strings.Join(paths, " "))
	}
	return sources, nil
}

// checking returns the options of a run, without Report.
func (o options) checking() checking.Options {
	run := checking.Options{Ranks: checkRanks, Orders: o.schedules, Seed: o.seed, Timeout: cmp.Or(o.timeout, caseLimit),
		Sessions: cmp.Or(o.sessions, checkSessions), OnGPUs: !emulated(o.device)}
	switch {
	case o.worlds != nil:
		run.Ranks = o.worlds
	case o.ranks != 0:
		run.Ranks = []int{o.ranks}
	}
	run.Open = func(ctx context.Context, w checking.World) (session.Session, error) {
		of := o
		if of.ranks = w.Ranks; w.Hosts > 1 {
			of.hosts = strconv.Itoa(w.Hosts)
		}
		s, err := open(ctx, of)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	return run
}

// resultFile is a file of --junit or --sarif. It keeps its old contents until the new ones are complete.
type resultFile struct {
	flag string
	*wholefile.File
	write func(io.Writer, []checking.Result) error
}

type resultFiles []resultFile

// resultFiles opens the files, so that one that cannot be written is told before anything runs.
func (o options) resultFiles() (files resultFiles, err error) {
	sarif := func(w io.Writer, results []checking.Result) error { return checking.SARIF(w, results, release) }
	for _, f := range []struct {
		flag, name string
		write      func(io.Writer, []checking.Result) error
	}{{"--junit", o.junit, checking.JUnit}, {"--sarif", o.sarif, sarif}} {
		if f.name == "" {
			continue
		}
		opened, err := wholefile.Create(f.name)
		if err != nil {
			files.abandon()
			return nil, fmt.Errorf("%s: %w", f.flag, err)
		}
		files = append(files, resultFile{f.flag, opened, f.write})
	}
	return files, nil
}

// abandon gives up the files that are not written.
func (files resultFiles) abandon() {
	for _, f := range files {
		f.Abort()
	}
}

// write writes all files.
func (files resultFiles) write(results []checking.Result) error {
	for _, f := range files {
		err := f.write(f.File, results)
		if err == nil {
			err = f.Commit()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.flag, err)
		}
	}
	return nil
}
