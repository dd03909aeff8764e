package mcp

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/session"
)

// Bounds of one answer. What does not fit is counted in LeftOut.
const (
	maxOutput = 64 << 10 // bytes of output, of values, and of errors
	maxText   = 8 << 10  // bytes of one text among errors and values
	maxItems  = 200      // variables, words and other items of one kind
)

// outcome is the answer to a tool that runs cells.
type outcome struct {
	OK       bool              `json:"ok" jsonschema:"no rank failed and nothing was found"`
	Cell     int               `json:"cell,omitempty" jsonschema:"number of the cell, by which positions cite it"`
	Elapsed  float64           `json:"elapsed" jsonschema:"seconds, until the last rank was done"`
	Output   []output          `json:"output,omitempty"`
	Values   []value           `json:"values,omitempty" jsonschema:"of the cell's last expression"`
	Errors   []failure         `json:"errors,omitempty"`
	Findings []session.Finding `json:"findings,omitempty" jsonschema:"of the sanitizer"`
	LeftOut  string            `json:"left_out,omitempty" jsonschema:"how much of the answer is left out"`
}

// output is output that is equal on ranks.
type output struct {
	Ranks  []int  `json:"ranks,omitempty"`
	Stream string `json:"stream" jsonschema:"stdout, stderr, or note: a remark of the session"`
	Text   string `json:"text"`
}

// value is a value that is equal on ranks.
type value struct {
	Ranks []int  `json:"ranks"`
	Text  string `json:"text"`
}

// failure is an error that is equal on ranks.
type failure struct {
	Kind   string `json:"kind" jsonschema:"such as syntax, type, panic, misuse, mismatch, compile, fault, timeout, deadlock, interrupted"`
	Ranks  []int  `json:"ranks"`
	Op     string `json:"op,omitempty" jsonschema:"operation that failed"`
	Peer   *int   `json:"peer,omitempty" jsonschema:"rank that the error concerns"`
	File   string `json:"file,omitempty" jsonschema:"such as cell[3], whose lines count from 1"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Msg    string `json:"msg"`
	Source string `json:"source,omitempty" jsonschema:"the line"`
	Hint   string `json:"hint,omitempty" jsonschema:"what to do next"`
	Detail string `json:"detail,omitempty" jsonschema:"a compiler's log or a stack"`
	Hang   []row  `json:"hang,omitempty" jsonschema:"of a deadlock: what the ranks did"`
}

// row describes some ranks.
type row struct {
	Ranks []int   `json:"ranks"`
	Doing string  `json:"doing"`
	For   float64 `json:"for,omitempty" jsonschema:"seconds"`
}

func toRows(rows []session.HangRow) (list []row) {
	for _, r := range rows {
		list = append(list, row{r.Ranks, r.Doing, r.For})
	}
	return list
}

// omissions counts the omitted parts of an answer.
type omissions struct{ parts []string }

// text shortens a text to about n bytes, at the boundary of a character.
func (o *omissions) text(what, text string, n int) string {
	text = strings.ToValidUTF8(text, "�")
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	o.parts = append(o.parts, count.Of(len(text)-n, "byte")+" of "+what)
	return text[:n]
}

// String is the line about everything that is left out.
func (o *omissions) String() string {
	if len(o.parts) == 0 {
		return ""
	}
	const most = 10
	parts := o.parts
	if n := len(parts); n > most {
		parts = append(slices.Clone(parts[:most]), fmt.Sprintf("and %d more texts", n-most))
	}
	return "left out: " + strings.Join(parts, ", ")
}

// first returns the first maxItems of a list.
func first[T any](o *omissions, what string, list []T) []T {
	if len(list) <= maxItems {
		return list
	}
	o.parts = append(o.parts, fmt.Sprintf("%d of %d %s", len(list)-maxItems, len(list), what))
	return list[:maxItems]
}

// toFailures converts errors.
func (o *omissions) toFailures(errs []*session.Error) (list []failure) {
	for _, e := range first(o, "errors", errs) {
		f := failure{
			Kind: string(e.Kind), Ranks: e.Ranks, Op: e.Op, File: e.File, Line: e.Line, Column: e.Column,
			Msg: o.text("an error", e.Msg, maxText), Source: o.text("a line", e.Source, maxText), Hint: o.text("a hint", e.Hint, maxText),
			Detail: o.text("the details of an error", e.Detail, maxText), Hang: toRows(e.Hang),
		}
		if e.Peer >= 0 {
			f.Peer = &e.Peer
		}
		list = append(list, f)
	}
	return list
}

// recorder is the console.Printer of one call: it keeps the output of the cells.
type recorder struct {
	mu       sync.Mutex
	outcome  outcome
	omitted  omissions
	kept     int // bytes of output
	lost     int // bytes of output that are left out
	table    []row
	findings []session.Finding
}

// Output implements console.Printer.
func (r *recorder) Output(o session.Output) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.Hang != nil {
		r.table = toRows(o.Hang)
	}
	stream := map[session.Stream]string{session.Stdout: "stdout", session.Stderr: "stderr", session.Note: "note"}[o.Stream]
	r.add(o.Ranks, stream, o.Text)
}

// add keeps output as far as it fits. Output of the same ranks is joined. r.mu is held.
func (r *recorder) add(ranks []int, stream, text string) {
	text = strings.ToValidUTF8(text, "�")
	fits := max(min(len(text), maxOutput-r.kept), 0)
	for fits > 0 && fits < len(text) && !utf8.RuneStart(text[fits]) {
		fits--
	}
	r.lost += len(text) - fits
	if text = text[:fits]; text == "" {
		return
	}
	r.kept += fits
	if n := len(r.outcome.Output); n > 0 && stream != "note" {
		if last := &r.outcome.Output[n-1]; last.Stream == stream && slices.Equal(last.Ranks, ranks) {
			last.Text += text
			return
		}
	}
	r.outcome.Output = append(r.outcome.Output, output{slices.Clone(ranks), stream, text})
}

// Reply implements console.Printer.
func (r *recorder) Reply(reply session.Reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := &r.outcome
	if out.Cell == 0 {
		out.Cell = reply.Cell
	}
	out.Elapsed += reply.Elapsed
	for _, v := range reply.Values {
		out.Values = append(out.Values, value{v.Ranks, r.omitted.text("a value", v.Text, maxText)})
	}
	for _, f := range r.omitted.toFailures(reply.Errors) {
		if !slices.ContainsFunc(out.Errors, func(known failure) bool { return reflect.DeepEqual(known, f) }) { // another order has the same
			out.Errors = append(out.Errors, f)
		}
	}
	r.findings = append(r.findings, reply.Findings...)
}

// Print implements console.Printer.
func (r *recorder) Print(text string) { r.Note(nil, "%s", text) }

// Note implements console.Printer.
func (r *recorder) Note(ranks []int, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(ranks, "note", fmt.Sprintf(format, args...)+"\n")
}

// Fail implements console.Printer.
func (r *recorder) Fail(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcome.Errors = append(r.outcome.Errors,
		failure{Kind: string(session.KindMisuse), Msg: r.omitted.text("an error", fmt.Sprintf(format, args...), maxText)})
}

// CloseLine implements console.Printer.
func (r *recorder) CloseLine() bool { return false }

// hang returns the last table of waits of the cell.
func (r *recorder) hang() []row {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.table
}

// end returns the answer.
func (r *recorder) end() outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.outcome
	out.Findings = first(&r.omitted, "findings", r.findings)
	out.Values = first(&r.omitted, "values", out.Values)
	out.Output = first(&r.omitted, "outputs", out.Output)
	if r.lost > 0 {
		r.omitted.parts = append(r.omitted.parts, count.Of(r.lost, "byte")+" of output")
	}
	out.OK = len(out.Errors) == 0 && len(out.Findings) == 0
	out.LeftOut = r.omitted.String()
	return out
}
