package checking

import (
	"errors"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/casefile"
	"github.com/symmrepl/symmrepl/session"
)

// World is the size of a session.
type World struct {
	Ranks int
	Hosts int // simulated hosts; 1: none
}

// Status is the outcome of a case.
type Status string

const (
	Passed Status = "passed"
	Failed Status = "failed"
	NotRun Status = "not run" // the command was interrupted, or no session could be started
)

// Result is the outcome of a case in a world.
type Result struct {
	File     string
	Case     string
	Line     int
	World    World
	Status   Status
	Time     time.Duration
	Why      string             // of Failed, without an error or finding; and of NotRun
	Errors   []*session.Error   // that the case should not have had
	Findings []session.Finding  // likewise
	Missing  []casefile.Outcome // that it should have had
	Output   string             // of a case that failed
}

// judge decides a result from the errors and findings of all orders. With optional, expected findings
// need not come.
func judge(c casefile.Case, r *Result, errs []*session.Error, found []session.Finding, optional bool) {
	met := map[casefile.Outcome]bool{}
	for _, f := range found {
		if f.Allowed == "" && !matches(c.Findings, met, f.Kind) {
			r.Findings = append(r.Findings, f)
		}
	}
	for _, e := range causes(errs) {
		if !matches(c.Errors, met, string(e.Kind), e.Msg) {
			r.Errors = append(r.Errors, e)
		}
	}
	for i, o := range append(append([]casefile.Outcome{}, c.Findings...), c.Errors...) {
		if !met[o] && !(optional && i < len(c.Findings)) {
			r.Missing = append(r.Missing, o)
		}
	}
	r.Status = Passed
	if len(r.Errors)+len(r.Findings)+len(r.Missing) > 0 || r.Why != "" {
		r.Status = Failed
	}
}

// matches reports whether one of some outcomes is meant, and marks all that are.
func matches(outcomes []casefile.Outcome, met map[casefile.Outcome]bool, texts ...string) (is bool) {
	for _, o := range outcomes {
		for _, text := range texts {
			if strings.Contains(strings.ToLower(text), strings.ToLower(o.Text)) {
				met[o], is = true, true
			}
		}
	}
	return is
}

// causes returns the errors without those of ranks that only waited for a rank with another error.
func causes(errs []*session.Error) []*session.Error {
	var own []*session.Error
	for _, e := range errs {
		if e.Kind != session.KindPeer {
			own = append(own, e)
		}
	}
	if own == nil {
		return errs
	}
	return own
}

// lostRank reports whether a rank was replaced, or must be.
func lostRank(errs []*session.Error) bool {
	for _, e := range errs {
		if e.Kind == session.KindDied || e.Fatal || e.Exited {
			return true
		}
	}
	return false
}

// limitIsOver reports whether a context ended with the time limit of a case.
func limitIsOver(cause error) (session.Limit, bool) {
	var limit session.Limit
	return limit, errors.As(cause, &limit)
}
