package checking

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
)

// The elements of JUnit's XML, as the schema of Jenkins' xUnit plugin has them.
type (
	suites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Suites   []suite  `xml:"testsuite"`
	}
	suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Time     string     `xml:"time,attr"`
		Cases    []testcase `xml:"testcase"`
		time     time.Duration
	}
	testcase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Time    string   `xml:"time,attr"`
		Failure *failure `xml:"failure"`
		Skipped *skipped `xml:"skipped"`
	}
	failure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	skipped struct {
		Message string `xml:"message,attr"`
	}
)

// JUnit writes results as XML for the pages of CI systems: a suite for each file, a test for each case
// and world.
func JUnit(w io.Writer, results []Result) error {
	var all suites
	for _, r := range results {
		n := len(all.Suites)
		if n == 0 || all.Suites[n-1].Name != r.File {
			all.Suites = append(all.Suites, suite{Name: r.File})
			n++
		}
		s := &all.Suites[n-1]
		t := testcase{Name: fmt.Sprintf("%s[%d]", r.Case, r.World.Ranks), Class: r.File, Time: seconds(r.Time)}
		if r.World.Hosts > 1 {
			t.Name = fmt.Sprintf("%s[%d, hosts %d]", r.Case, r.World.Ranks, r.World.Hosts)
		}
		s.Tests++
		all.Tests++
		switch r.Status {
		case Failed:
			s.Failures++
			all.Failures++
			text := Report(r, false)
			first, _, _ := strings.Cut(text, "\n")
			t.Failure = &failure{first, kindOf(r), text}
		case NotRun:
			s.Skipped++
			t.Skipped = &skipped{r.Why}
		}
		s.time += r.Time
		s.Time = seconds(s.time)
		s.Cases = append(s.Cases, t)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	out := xml.NewEncoder(w)
	out.Indent("", "  ")
	if err := out.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// kindOf returns the kind of the first thing that is wrong with a case.
func kindOf(r Result) string {
	switch {
	case len(r.Findings) > 0:
		return render.Plain(r.Findings[0].Kind)
	case len(r.Errors) > 0:
		return string(r.Errors[0].Kind)
	case len(r.Missing) > 0:
		return "missing"
	}
	return "failed"
}
