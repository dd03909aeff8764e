package tutorial

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
)

// notebook is a file of nbformat 4.5; fields are in the order in which Jupyter writes them.
type notebook struct {
	Cells    []any `json:"cells"`
	Metadata any   `json:"metadata"`
	Format   int   `json:"nbformat"`
	Minor    int   `json:"nbformat_minor"`
}

type textCell struct {
	Type     string         `json:"cell_type"`
	ID       string         `json:"id"`
	Metadata map[string]any `json:"metadata"`
	Source   []string       `json:"source"`
}

type codeCell struct {
	Type     string           `json:"cell_type"`
	Count    int              `json:"execution_count"`
	ID       string           `json:"id"`
	Metadata map[string]any   `json:"metadata"`
	Outputs  []map[string]any `json:"outputs"`
	Source   []string         `json:"source"`
}

// Notebook makes a notebook of the lesson, with the outputs of a recording.
func (l Lesson) Notebook(r Recording) ([]byte, error) {
	if runs := len(l.Runs()); runs != len(r) {
		return nil, fmt.Errorf("%s: %d cells are recorded, %d are run: record it again", l.Name, len(r), runs)
	}
	all, err := All()
	if err != nil {
		return nil, err
	}
	w := writer{recording: r, name: l.Name, names: byNumber(all)}
	for _, s := range l.Steps {
		w.step(s)
	}
	return w.file()
}

// contents makes a notebook whose cell lists the lessons, with links to their notebooks and with
// the exercises that are solved. Its stored output shows no exercise as solved.
func contents(lessons []Lesson) ([]byte, error) {
	w := writer{name: "contents"}
	w.text("# Contents\n\nEach notebook is a lesson with exercises. Its kernel, symmrepl, runs every cell on all ranks; " +
		"without a GPU the ranks run on an emulated device.\n\n" +
		"Run the next cell to see which exercises you have solved: an exercise counts when its check has accepted your answer, here or at the prompt.")
	w.cells = append(w.cells, codeCell{Type: "code", Count: 1, ID: w.id(), Metadata: map[string]any{}, Outputs: []map[string]any{{
		"data": map[string]any{"text/markdown": lines(Overview(lessons, Progress{})),
			"text/plain": []string{"The lessons, with links to their notebooks"}},
		"metadata": map[string]any{}, "output_type": "display_data",
	}}, Source: []string{":tutorial"}})
	w.text("[display](display.ipynb) shows the displays of cells, and [python](python.ipynb) a notebook of Python beside a session.")
	return w.file()
}

// file returns the file of the notebook.
func (w *writer) file() ([]byte, error) {
	if w.failed != nil {
		return nil, w.failed
	}
	nb := notebook{w.cells, map[string]any{
		"kernelspec":    map[string]any{"display_name": "symmrepl", "language": "go", "name": "symmrepl"},
		"language_info": map[string]any{"file_extension": ".go", "mimetype": "text/x-go", "name": "go"},
	}, 4, 5}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(nb)
	return b.Bytes(), err
}

// writer makes the cells of a notebook.
type writer struct {
	name      string
	names     map[string]string // of tutorials, by number
	recording Recording
	cells     []any
	first     []int // lines of the file on which the code cells begin
	failed    error // a picture that does not exist
}

func (w *writer) step(s Step) {
	w.text(s.Text)
	if s.Cell != nil {
		metadata := map[string]any{}
		if s.Cell.Fails {
			metadata["tags"] = mayFail
		}
		w.code(*s.Cell, metadata)
	}
	e := s.Exercise
	if e == nil {
		return
	}
	w.text("## Exercise: " + e.Title + "\n\n" + e.Task)
	w.code(e.Start, map[string]any{})
	for i, hint := range e.Hints {
		w.text(folded(fmt.Sprintf("Hint %d", i+1), hint))
	}
	w.text(folded("A solution", "```go\n"+e.Solution.Code()+"\n```"))
	w.text("The next cell, which is folded, checks your answer: run it again when you have changed the one above.")
	w.code(e.Check, map[string]any{"jupyter": map[string]any{"source_hidden": true}, "tags": mayFail})
}

var (
	shellLine   = regexp.MustCompile(`(?m)^    symmrepl( tutorial \d\d)? -n .*$`)
	shellBegins = regexp.MustCompile(`symmrepl( tutorial \d\d)? -n`)
	sizeAlone   = regexp.MustCompile(`-n \d+ {11}`)
)

// restarting replaces the lines that start a session at a shell by those that do in a notebook. There
// the hosts of the previous session would stay: a line that names none asks for one.
func restarting(text string) string {
	return shellLine.ReplaceAllStringFunc(text, func(line string) string {
		line = shellBegins.ReplaceAllString(line, "%restart -n")
		return sizeAlone.ReplaceAllStringFunc(line, func(size string) string { return strings.TrimRight(size, " ") + " --hosts 1 " })
	})
}

// folded returns Markdown that unfolds on a click.
func folded(title, text string) string {
	return "<details><summary>" + title + "</summary>\n\n" + text + "\n\n</details>"
}

func (w *writer) text(text string) {
	if text == "" {
		return
	}
	shown, err := pictured(linked(restarting(text), w.names))
	if err != nil {
		w.failed = err
	}
	w.cells = append(w.cells, textCell{"markdown", w.id(), map[string]any{}, lines(shown)})
}

// id returns the id of the next cell, which is the same in every run.
func (w *writer) id() string { return fmt.Sprintf("%s-%d", w.name, len(w.cells)+1) }

// mayFail are the tags of a cell that does not end the run of a notebook if it fails.
var mayFail = []string{"raises-exception"}

// code adds a cell with its recorded output.
func (w *writer) code(c Cell, metadata map[string]any) {
	before := 1 // lines of the file before the cell's
	if c.Title != "" {
		before++
	}
	w.first = append(w.first, c.Line-before)
	count := len(w.first)
	outputs := []map[string]any{}
	_, _, checks := SolvedBy(c.Source)
	for _, p := range w.recording[count-1] {
		if checks {
			p = toldOfCheck(p)
		}
		outputs = append(outputs, w.output(p, c.File))
	}
	w.cells = append(w.cells, codeCell{
		Type: "code", Count: count, ID: w.id(), Metadata: metadata, Outputs: outputs, Source: lines(c.Code()),
	})
}

// listed matches a line of an error that lists a finding.
var listed = regexp.MustCompile(`^(\[[0-9,-]+\] )? +- `)

// toldOfCheck returns an error of an exercise's check as front ends show it: only the text about
// the answer, with the findings that it lists, without the position and the code, which repeat it.
func toldOfCheck(p Piece) Piece {
	if p.Kind != Error+" panic" {
		return p
	}
	var told strings.Builder
	for line := range strings.Lines(p.Text) {
		if where, said, ok := strings.Cut(line, ": panic: "); ok {
			ranks, _, _ := strings.Cut(where, " ")
			told.WriteString(ranks + " " + said)
		} else if listed.MatchString(line) {
			told.WriteString(line)
		}
	}
	p.Text = told.String()
	return p
}

// output returns a piece in the kernel's form.
func (w *writer) output(p Piece, file string) map[string]any {
	text := w.positions(p.Text, file)
	switch p.Kind {
	case Stdout, Stderr:
		return map[string]any{"name": p.Kind, "output_type": "stream", "text": lines(text)}
	case Value:
		return map[string]any{
			"data": map[string]any{"text/plain": lines(strings.TrimSuffix(text, "\n"))}, "execution_count": len(w.first),
			"metadata": map[string]any{}, "output_type": "execute_result",
		}
	case Finding:
		return map[string]any{
			"data": map[string]any{"text/plain": lines(strings.TrimSuffix(text, "\n"))}, "metadata": map[string]any{},
			"output_type": "display_data",
		}
	}
	text = render.Unprefixed(strings.TrimSuffix(text, "\n"))
	first, _, _ := strings.Cut(text, "\n")
	return map[string]any{"ename": strings.TrimPrefix(p.Kind, Error+" "), "evalue": first, "output_type": "error",
		"traceback": []string{text}}
}

// positions replaces positions in the file by positions in the notebook, which may be in earlier
// cells that define functions.
func (w *writer) positions(text, file string) string {
	position := regexp.MustCompile(regexp.QuoteMeta(file) + `:(\d+)`)
	return position.ReplaceAllStringFunc(text, func(found string) string {
		line, err := strconv.Atoi(found[len(file)+1:])
		after, _ := slices.BinarySearch(w.first, line+1)
		if err != nil || after == 0 {
			return found
		}
		return fmt.Sprintf("In[%d]:%d", after, line-w.first[after-1])
	})
}

// lines splits text as notebooks do, each line with its newline.
func lines(text string) []string {
	list := strings.SplitAfter(text, "\n")
	if list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}
