package checking

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// The objects of SARIF 2.1.0 that code scanning reads.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver struct {
				Name    string      `json:"name"`
				Version string      `json:"version,omitempty"`
				Rules   []sarifRule `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifRule struct {
		ID   string       `json:"id"`
		Text sarifMessage `json:"shortDescription"`
	}
	sarifResult struct {
		Rule      string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifMessage `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region sarifRegion `json:"region"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
)

// SARIF writes what is wrong as SARIF, which code scanning shows at the lines of a pull request. What
// several cases or worlds have found at the same place is one result.
func SARIF(w io.Writer, results []Result, version string) error {
	log := sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: make([]sarifRun, 1)}
	run := &log.Runs[0]
	run.Tool.Driver.Name, run.Tool.Driver.Version = "symmrepl", version
	run.Tool.Driver.Rules, run.Results = []sarifRule{}, []sarifResult{}
	rules, seen := map[string]bool{}, map[string]bool{}
	add := func(rule, text string, places ...sarifLocation) {
		id := strings.ReplaceAll(rule, " ", "-")
		key := fmt.Sprint(id, places[0].Physical)
		if seen[key] {
			return
		}
		seen[key] = true
		if !rules[id] {
			rules[id] = true
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{id, sarifMessage{rule}})
		}
		run.Results = append(run.Results, sarifResult{Rule: id, Level: "error", Message: sarifMessage{text},
			Locations: places[:1], Related: places[1:]})
	}
	for _, r := range results {
		if r.Status != Failed {
			continue
		}
		for _, f := range r.Findings {
			add(f.Kind, findingText(r, f), findingPlaces(r, f)...)
		}
		for _, e := range r.Errors {
			file, line := e.File, e.Line
			if file == "" || line < 1 {
				file, line = r.File, r.Line
			}
			add(string(e.Kind), fmt.Sprintf("%s on %d ranks: %s", r.Case, r.World.Ranks, e.Msg), place(file, line, e.Column, ""))
		}
		for _, o := range r.Missing {
			add("missing", fmt.Sprintf("%s on %d ranks: %s was expected and did not come", r.Case, r.World.Ranks, expectation(r, o.Position())),
				place(r.File, o.Position(), 0, ""))
		}
		if r.Why != "" {
			add("failed", fmt.Sprintf("%s on %d ranks: %s", r.Case, r.World.Ranks, r.Why), place(r.File, r.Line, 0, ""))
		}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(log)
}

// findingText describes a finding in a sentence or two.
func findingText(r Result, f session.Finding) string {
	text := fmt.Sprintf("%s on %d ranks: %s", r.Case, r.World.Ranks, f.Kind)
	for _, more := range []string{f.Memory, f.Order, f.Repair} {
		if more != "" {
			text += "; " + more
		}
	}
	return text
}

// findingPlaces returns the places of the accesses of a finding, of which there is at least one.
func findingPlaces(r Result, f session.Finding) (places []sarifLocation) {
	for _, a := range f.Accesses {
		if a.File == "" || a.Line < 1 {
			continue
		}
		places = append(places, place(a.File, a.Line, a.Column, fmt.Sprintf("rank %d %s", a.Rank, a.Op)))
	}
	if places == nil {
		places = []sarifLocation{place(r.File, r.Line, 0, "")}
	}
	return places
}

// place returns a location.
func place(file string, line, column int, text string) sarifLocation {
	var l sarifLocation
	l.Physical.Artifact.URI = (&url.URL{Path: filepath.ToSlash(file)}).String()
	l.Physical.Region = sarifRegion{line, max(0, column)}
	if text != "" {
		l.Message = &sarifMessage{text}
	}
	return l
}
