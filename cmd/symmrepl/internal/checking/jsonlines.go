package checking

import (
	"encoding/json"
	"io"

	"github.com/symmrepl/symmrepl/session"
)

// record is a result in JSON.
type record struct {
	File     string            `json:"file"`
	Case     string            `json:"case"`
	Line     int               `json:"line"`
	Ranks    int               `json:"ranks"`
	Hosts    int               `json:"hosts"`
	Status   Status            `json:"status"`
	Seconds  float64           `json:"seconds"`
	Why      string            `json:"why,omitempty"`
	Errors   []wrong           `json:"errors,omitempty"`
	Findings []session.Finding `json:"findings,omitempty"`
	Missing  []missing         `json:"missing,omitempty"`
	Output   string            `json:"output,omitempty"`
}

// wrong is an error in JSON.
type wrong struct {
	Kind  session.Kind `json:"kind"`
	Ranks []int        `json:"ranks"`
	File  string       `json:"file,omitempty"`
	Line  int          `json:"line,omitempty"`
	Text  string       `json:"message"`
	Hint  string       `json:"hint,omitempty"`
}

// missing is an outcome that did not come.
type missing struct {
	Line int    `json:"line"`
	Text string `json:"expected"`
}

// JSON writes results, a line each.
func JSON(w io.Writer, results []Result) error {
	out := json.NewEncoder(w)
	for _, r := range results {
		line := record{File: r.File, Case: r.Case, Line: r.Line, Ranks: r.World.Ranks, Hosts: r.World.Hosts, Status: r.Status,
			Seconds: r.Time.Seconds(), Why: r.Why, Findings: r.Findings, Output: r.Output}
		for _, e := range r.Errors {
			line.Errors = append(line.Errors, wrong{Kind: e.Kind, Ranks: e.Ranks, File: e.File, Line: e.Line, Text: e.Msg, Hint: e.Hint})
		}
		for _, o := range r.Missing {
			line.Missing = append(line.Missing, missing{o.Position(), o.Text})
		}
		if err := out.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
