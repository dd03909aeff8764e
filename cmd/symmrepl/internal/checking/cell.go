package checking

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/casefile"
	"github.com/symmrepl/symmrepl/session"
)

// Variables of the session.
const (
	setVariable    = "symm_tensors" // the tensors of the case that runs
	moduleVariable = "symm_kernels" // with a number: the kernels of a source
)

// imports are the packages that the cells of cases use beside those of the session.
var imports = map[string]string{"expect": "github.com/symmrepl/symmrepl/symmem/expect"}

// cell returns a silent cell.
func cell(name string, line int, source string) session.Cell {
	return session.Cell{Name: name, Line: line, Source: source, Imports: imports, Silent: true}
}

// beginning declares the variable of the tensors.
func beginning() session.Cell { return cell("check", 1, "var "+setVariable+" *expect.Tensors") }

// freeing frees what a case has left.
func freeing() session.Cell { return cell("check", 1, setVariable+".Free()") }

// compiling compiles the kernels of a source into a variable. The name of the text is s.title.
func compiling(s *Source, variable string) session.Cell {
	args := []string{strconv.Quote(s.title), "1", strconv.Quote(s.text.Source)}
	for _, name := range s.named {
		args = append(args, strconv.Quote(name))
	}
	return cell(s.Name, 1, "var "+variable+" = symm.CompileAt("+strings.Join(args, ", ")+")")
}

// running returns the cell of a case, whose statements stand on the lines that they have in the file. It
// frees what the case before it has held until then, because reports describe that memory.
func running(s *Source, c casefile.Case, variable string) session.Cell {
	w := &writer{line: c.Line, kernels: variable}
	w.at(c.Line, "func() { "+setVariable+".Free(); rank, size := symm.Rank(), symm.WorldSize(); _, _ = rank, size; "+setVariable+" = expect.New()")
	for _, step := range c.Steps {
		w.step(step)
	}
	w.at(w.line, "}()")
	return cell(s.Name, c.Line, w.text.String())
}

// writer writes a case as Go.
type writer struct {
	text    strings.Builder
	line    int // of the end of text
	kernels string
	streams []string
}

// at writes a statement at a line.
func (w *writer) at(line int, statement string) {
	if w.text.Len() > 0 && line <= w.line {
		w.text.WriteString("; ")
	}
	for w.line < line {
		w.text.WriteByte('\n')
		w.line++
	}
	w.text.WriteString(statement)
	w.line += strings.Count(statement, "\n")
}

// step writes a statement of a case.
func (w *writer) step(step casefile.Step) {
	line := step.Position()
	switch s := step.(type) {
	case casefile.Tensor:
		make := "Local"
		if s.Symmetric {
			make = "Symmetric"
		}
		w.at(line, fmt.Sprintf("%s := %s.%s(%q, symm.%s, %s, %s); _ = %[1]s", s.Name, setVariable, make, s.Name, strings.ToUpper(s.Type),
			quoted(s.Fill), flat(s.Shape)))
	case casefile.Launch:
		w.launch(s)
	case casefile.Compare:
		args := []string{strconv.Quote(s.Name), quoted(s.Formula)}
		method := "Equal"
		if s.Close {
			method = "Close"
			args = append(args, cmp.Or(s.Relative, "1.3e-6"), cmp.Or(s.Absolute, "1e-5"))
		}
		if s.On != nil {
			args = append(args, flat(s.On))
		}
		w.at(line, fmt.Sprintf("if err := %s.%s(%s); err != nil { panic(err) }", setVariable, method, strings.Join(args, ", ")))
	case casefile.Meet:
		w.at(line, "symm.Meet()")
	case casefile.Go:
		w.at(line, s.Text)
	}
}

// launch writes a launch.
func (w *writer) launch(l casefile.Launch) {
	args := []string{"symm.Grid(" + flat(l.Grid) + ")", "symm.Block(" + flat(l.Block) + ")"}
	for _, a := range l.Args {
		args = append(args, argument(a))
	}
	if l.Shared != "" {
		args = append(args, "symm.SharedBytes("+flat([]string{l.Shared})+")")
	}
	if l.Stream != "" {
		if !slices.Contains(w.streams, l.Stream) {
			w.streams = append(w.streams, l.Stream)
			w.at(l.Position(), l.Stream+" := symm.NewStream()")
		}
		args = append(args, l.Stream)
	}
	text := fmt.Sprintf("%s.Kernel(%q).Launch(%s)", w.kernels, l.Kernel, strings.Join(args, ", "))
	if l.Repeat != "" {
		text = fmt.Sprintf("for range int(%s) { %s }", flat([]string{l.Repeat}), text)
	}
	if l.On != nil {
		var ranks []string
		for _, r := range l.On {
			ranks = append(ranks, "rank == ("+flat([]string{r})+")")
		}
		text = "if " + strings.Join(ranks, " || ") + " { " + text + " }"
	}
	w.at(l.Position(), text)
}

// methods are the arguments of launches that name a tensor, with the methods of the set that return
// them.
var methods = map[string]string{"handle": "Handle", "peers": "Peers", "pads": "Pads", "pad": "Pad", "table": "Table", "pointers": "Pointers"}

// argument returns the Go for an argument of a launch.
func argument(text string) string {
	x, err := parser.ParseExpr(text)
	if call, ok := x.(*ast.CallExpr); err == nil && ok && len(call.Args) > 0 {
		function, _ := call.Fun.(*ast.Ident)
		of, _ := call.Args[0].(*ast.Ident)
		if function != nil && of != nil && methods[function.Name] != "" {
			behind := text[call.Args[0].End()-1 : call.Rparen-1] // of a table: its length
			return fmt.Sprintf("%s.%s(%q%s)", setVariable, methods[function.Name], of.Name, flat([]string{behind}))
		}
	}
	return flat([]string{text})
}

// flat joins expressions by commas, in one line.
func flat(expressions []string) string {
	return strings.ReplaceAll(strings.Join(expressions, ", "), "\n", " ")
}

// quoted quotes a formula in one line.
func quoted(formula string) string { return strconv.Quote(strings.ReplaceAll(formula, "\n", " ")) }
