package tutorial

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cellfile"
)

// Lesson is one tutorial.
type Lesson struct {
	Name  string // "01-hello-ranks"
	Title string // a line about it
	Steps []Step
}

// Step is a part of a lesson that is shown and run at once.
type Step struct {
	Text     string    // Markdown; "" if the cell says it all
	Cell     *Cell     // nil if the step runs nothing
	Exercise *Exercise // nil if the step has none; if it has one, Cell is nil
}

// Cell is code of a tutorial.
type Cell struct {
	File   string // name in positions
	Line   int    // line of the file on which Source begins
	Title  string
	Source string // without blank lines at its ends
	Fails  bool   // it ends with an error
	Varies bool   // its output is not the same each time
}

// Code returns the source with the title as a comment before it.
func (c Cell) Code() string {
	if c.Title == "" {
		return c.Source
	}
	return "// " + c.Title + "\n" + c.Source
}

// Exercise is a task whose answer Check accepts or refuses.
type Exercise struct {
	Title    string
	Task     string // Markdown
	Start    Cell   // code that the user changes
	Hints    []string
	Solution Cell
	Check    Cell // fails, or prints Correct
}

// Correct is the output of a check that accepts the answer.
const Correct = "correct"

// Exercises returns the exercises of the lesson.
func (l Lesson) Exercises() []*Exercise {
	var list []*Exercise
	for _, s := range l.Steps {
		if s.Exercise != nil {
			list = append(list, s.Exercise)
		}
	}
	return list
}

// All returns the tutorials in the order of their numbers.
func All() ([]Lesson, error) {
	names, err := fs.Glob(symmrepl.Tutorials, "tutorials/*.go")
	if err != nil {
		return nil, err
	}
	var list []Lesson
	for _, name := range names {
		text, err := symmrepl.Tutorials.ReadFile(name)
		if err != nil {
			return nil, err
		}
		lesson, err := Parse(path.Base(name), string(text))
		if err != nil {
			return nil, err
		}
		list = append(list, lesson)
	}
	return list, nil
}

// Find returns the tutorial for a name: the tutorial's name or a prefix of it, its number, or its
// name without the number.
func Find(name string) (Lesson, error) {
	all, err := All()
	if err != nil {
		return Lesson{}, err
	}
	var found []Lesson
	for _, l := range all {
		number, words, _ := strings.Cut(l.Name, "-")
		switch {
		case name == l.Name, name == number, name == strings.TrimLeft(number, "0"):
			return l, nil
		case strings.HasPrefix(l.Name, name), strings.HasPrefix(words, name):
			found = append(found, l)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Lesson{}, fmt.Errorf("no tutorial is called %q; `symmrepl tutorial` and :tutorial list them", name)
	}
	return Lesson{}, fmt.Errorf("%q may be %s or %s", name, found[0].Name, found[1].Name)
}

// Parse reads a tutorial from the text of the file name.
func Parse(name, text string) (Lesson, error) {
	p := parser{lesson: Lesson{Name: strings.TrimSuffix(name, ".go")}, file: name}
	cells := cellfile.All(text)
	p.lesson.Title = about(cells[0].Source)
	if p.lesson.Title == "" {
		return Lesson{}, fmt.Errorf("%s: a comment with a line about it is expected before the first cell", name)
	}
	for _, c := range cells[1:] {
		if err := p.add(c); err != nil {
			return Lesson{}, fmt.Errorf("%s:%d: %w", name, c.Line-1, err)
		}
	}
	if err := p.close(); err != nil {
		return Lesson{}, fmt.Errorf("%s: at its end: %w", name, err)
	}
	return p.lesson, nil
}

// about returns the first line of the comment at the head of a file.
func about(head string) string {
	for line := range strings.Lines(head) {
		if rest, ok := strings.CutPrefix(line, "// "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// parser makes steps of cells.
type parser struct {
	lesson Lesson
	file   string
	text   []string  // of the next step
	open   *Exercise // the exercise whose check was not read yet
}

// order is the order of an exercise's parts.
var order = []string{"start", "hint", "solution", "check"}

func (p *parser) add(c cellfile.Cell) error {
	code := Cell{File: p.file, Line: c.Line, Title: c.Title, Source: strings.TrimRight(c.Source, " \t\r\n")}
	for rest, blank := strings.CutPrefix(code.Source, "\n"); blank; rest, blank = strings.CutPrefix(code.Source, "\n") {
		code.Source, code.Line = rest, code.Line+1
	}
	if c.Ranks != "" {
		return fmt.Errorf("a cell of a tutorial is for all ranks: it can ask for symm.Rank()")
	}
	if part := slices.Contains(order, c.Kind); part != (p.open != nil) {
		if part {
			return fmt.Errorf("[%s] belongs to an exercise, which begins with [exercise] and ends with [check]", c.Kind)
		}
		return fmt.Errorf("the exercise %q has no [check] yet", p.open.Title)
	}
	switch c.Kind {
	case "", "fails", "varies":
		code.Fails, code.Varies = c.Kind == "fails", c.Kind == "varies"
		p.step(Step{Cell: &code})
	case "markdown":
		p.text = append(p.text, words(c.Source))
	case "exercise":
		p.open = &Exercise{Title: c.Title, Task: words(c.Source)}
		p.step(Step{Exercise: p.open})
	case "start":
		p.open.Start = code
	case "hint":
		p.open.Hints = append(p.open.Hints, words(c.Source))
	case "solution":
		p.open.Solution = code
	case "check":
		p.open.Check = code
		if e := p.open; e.Start.Source == "" || e.Solution.Source == "" || len(e.Hints) == 0 || e.Title == "" {
			return fmt.Errorf("the exercise %q needs a title, a [start], a [hint] and a [solution]", e.Title)
		}
		p.open = nil
	default:
		return fmt.Errorf("there are no cells of the kind [%s]", c.Kind)
	}
	return nil
}

// step ends the current step.
func (p *parser) step(s Step) {
	s.Text = strings.Join(p.text, "\n\n")
	p.text = nil
	p.lesson.Steps = append(p.lesson.Steps, s)
}

func (p *parser) close() error {
	if p.open != nil {
		return fmt.Errorf("the exercise %q has no [check]", p.open.Title)
	}
	if p.text == nil {
		return fmt.Errorf("a text that names the next lesson is expected")
	}
	p.step(Step{})
	if !strings.HasPrefix(p.lesson.Steps[0].Text, "# ") {
		return fmt.Errorf("the text at its beginning has no heading")
	}
	return nil
}

// words returns the text of a comment.
func words(source string) string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "//"); ok {
			b.WriteString(strings.TrimPrefix(rest, " ") + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}
