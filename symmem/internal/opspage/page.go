package opspage

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
)

//go:generate go run ./gen ../.. ../../../tutorials/operations.go ../../../docs/ops.md

//go:embed intro.md
var intro string

// Labels are the first words of the paragraphs that describe an operation, in order. The last two
// may be missing.
var Labels = []string{"PyTorch", "Shapes", "Synchronises", "Options", "Capture", "Errors", "Back ends", "Source"}

// optional is the number of the last Labels that may be missing.
const optional = 2

// operation is one method and its comment.
type operation struct {
	name  string // "AllReduce", "Handle.Put"
	file  string
	decl  string // as in a call
	prose []comment.Block
	facts map[string]*comment.Paragraph // by label; the paragraphs still begin with it
}

// families are the parts of the page, in order: each has the operations in the listed files.
var families = []struct {
	title string
	files []string
}{
	{"All-reduce", []string{"all_reduce.go"}},
	{"Reduce-scatter and reductions of tiles", []string{"reduce_scatter.go", "reduce_scatter_offset.go", "tile_reduce.go"}},
	{"Products beside copies", []string{"fused.go"}},
	{"All-gather, all-to-all, broadcast", []string{"all_gather.go", "all_to_all.go", "broadcast.go", "permute.go"}},
	{"Rows by splits on the device", []string{"all_to_all_vdev.go"}},
	{"Tokens among experts", []string{"token_switch.go"}},
	{"By multicast", []string{"multimem.go"}},
	{"One-sided: puts, gets, signals", []string{"handle.go", "signal.go", "onesided.go"}},
	{"NCCL's device API", []string{"nccl.go"}},
	{"Memory operations", []string{"memops.go"}},
	{"Calculating", []string{"calculate.go"}},
	{"Memory pools", []string{"pool.go"}},
	{"Files", []string{"files.go", "save.go"}},
	{"Beside communication", nil}, // all other files
}

// Page returns the page for the package in dir, with the examples of a file of cells, and what is
// missing in the comments of its operations and among the examples.
func Page(dir, file string) (page string, missing []string, err error) {
	ops, err := operations(dir)
	if err != nil {
		return "", nil, err
	}
	examples, err := readExamples(file)
	if err != nil {
		return "", nil, err
	}
	anchors := map[string]string{} // by "Runtime.AllReduce"
	for _, op := range ops {
		anchors[key(op.name)] = "#" + strings.ToLower(strings.ReplaceAll(op.name, ".", ""))
		for _, label := range Labels[:len(Labels)-optional] {
			if op.facts[label] == nil {
				missing = append(missing,
					fmt.Sprintf("%s: the comment of %s has no paragraph that begins with %q", op.file, op.name, label+":"))
			}
		}
	}
	missing = append(missing, examples.compare(ops)...)
	printer := &comment.Printer{DocLinkURL: func(l *comment.DocLink) string { return anchors[l.Recv+"."+l.Name] }}
	markdown := func(blocks ...comment.Block) string {
		return string(printer.Markdown(&comment.Doc{Content: plainLinks(blocks, anchors)}))
	}
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString(table(ops))
	left := ops
	for _, f := range families {
		var part []*operation
		part, left = split(left, func(op *operation) bool { return f.files == nil || slices.Contains(f.files, op.file) })
		if len(part) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n", f.title)
		for _, op := range part {
			fmt.Fprintf(&b, "\n### %s\n\n```go\n%s\n```\n\n%s\n", op.name, op.decl, markdown(op.prose...))
			for _, label := range Labels {
				if p := op.facts[label]; p != nil {
					rest := strings.TrimPrefix(markdown(p), label+":")
					fmt.Fprintf(&b, "- **%s:** %s\n", label, strings.TrimSpace(rest))
				}
			}
			b.WriteString(examples.of(op.name, anchors))
		}
	}
	return b.String(), missing, nil
}

// key returns the name of an operation as references in comments have it.
func key(name string) string {
	if strings.Contains(name, ".") {
		return name
	}
	return "Runtime." + name
}

// table returns the table of all operators' properties.
func table(ops []*operation) string {
	var b strings.Builder
	if !slices.ContainsFunc(ops, func(op *operation) bool { return rowOf(op.name) != nil }) {
		return ""
	}
	b.WriteString("\n## Options, and hosts\n\nAn operation that is put in a stream takes a `*Group`, a `*Stream` and a `Timeout`; an operation of a handle takes no other group than the handle's. Loading and saving of files take a `*Group`.\n\n")
	b.WriteString("| Operation | Options of its own | Between hosts |\n|---|---|---|\n")
	for _, o := range operators.All {
		i := slices.IndexFunc(ops, func(op *operation) bool { return rowOf(op.name) == o })
		if i < 0 {
			continue // an operation on graphs or events
		}
		var own []string
		(o.Options &^ operators.Ordered).Each(func(sort operators.Options) { own = append(own, "`"+sort.String()+"`") })
		hosts := "yes"
		switch {
		case o.Options&operators.Shard != 0:
			hosts = "yes, of files that every host sees"
		case o.NCCL && o.Manner == operators.Collective:
			hosts = "yes, also by NCCL"
		case !o.Hosts && o.Instead != "":
			hosts = "no: " + o.Instead
		case !o.Hosts:
			hosts = "no"
		case o.Manner == operators.Alone && o.Options&operators.Group != 0 && !strings.HasPrefix(ops[i].name, "Handle."):
			hosts = "of this rank alone"
		}
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", ops[i].name, strings.ToLower(strings.ReplaceAll(ops[i].name, ".", "")),
			strings.Join(own, ", "), hosts)
	}
	return b.String()
}

// rowOf returns the operator for an operation, or nil if it is not put into a stream.
func rowOf(name string) *operators.Operator {
	name = strings.TrimPrefix(name, "Handle.")
	for _, call := range []string{name, strings.TrimSuffix(name, "Out")} {
		if i := slices.IndexFunc(operators.All, func(o *operators.Operator) bool { return o.Call == call }); i >= 0 {
			return operators.All[i]
		}
	}
	return nil
}

// core is the folder of the types that the package exports as aliases.
const core = "internal/core"

// operations finds the operations of the package in dir and of the core in it, in the order of the
// files.
func operations(dir string) ([]*operation, error) {
	var paths []string
	for _, d := range []string{dir, filepath.Join(dir, core)} {
		list, err := filepath.Glob(filepath.Join(d, "*.go"))
		if err != nil {
			return nil, err
		}
		paths = append(paths, list...)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || filepath.Base(path) == elsewhere {
			continue
		}
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	var ops []*operation
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if op := operationOf(fn); op != nil {
					op.file = filepath.Base(set.Position(fn.Pos()).Filename)
					ops = append(ops, op)
				}
			}
		}
	}
	pkg, err := doc.NewFromFiles(set, files, "github.com/symmrepl/symmrepl/symmem", doc.PreserveAST)
	if err != nil {
		return nil, err
	}
	comments := map[string]string{}
	for _, t := range pkg.Types {
		for _, m := range t.Methods {
			comments[strings.TrimPrefix(t.Name+"."+m.Name, "Runtime.")] = m.Doc
		}
	}
	for _, op := range ops {
		op.read(pkg.Parser().Parse(comments[op.name]))
	}
	return ops, nil
}

// elsewhere is the file of the operations that docs/arithmetic.md has.
const elsewhere = "arithmetic.go"

// receivers lists the types that have operations, with their names in a call.
var receivers = map[string]string{"Runtime": "symm", "Handle": "h", "TokenSwitch": "ts", "Tensor": "t"}

// operationOf returns the operation that fn declares, without its comment, or nil.
func operationOf(fn *ast.FuncDecl) *operation {
	if fn.Recv == nil || !fn.Name.IsExported() || len(fn.Type.Params.List) == 0 {
		return nil
	}
	star, ok := fn.Recv.List[0].Type.(*ast.StarExpr)
	if !ok {
		return nil
	}
	typ, ok := star.X.(*ast.Ident)
	if !ok {
		return nil // it is generic
	}
	recv := typ.Name
	last, ok := fn.Type.Params.List[len(fn.Type.Params.List)-1].Type.(*ast.Ellipsis)
	if !ok || fmt.Sprint(last.Elt) != "Option" && fmt.Sprint(last.Elt) != "any" || receivers[recv] == "" {
		return nil
	}
	var text strings.Builder
	if err := format.Node(&text, token.NewFileSet(), fn.Type); err != nil {
		panic(err) // fn was parsed, so it can be printed
	}
	signature := strings.Join(strings.Fields(strings.TrimPrefix(text.String(), "func")), " ")
	name := fn.Name.Name
	if recv != "Runtime" {
		name = recv + "." + name
	}
	return &operation{name: name, decl: receivers[recv] + "." + fn.Name.Name + signature}
}

// read splits the comment into prose and labelled paragraphs.
func (op *operation) read(d *comment.Doc) {
	op.facts = map[string]*comment.Paragraph{}
	for _, block := range d.Content {
		if p, ok := block.(*comment.Paragraph); ok {
			if label := labelOf(p); label != "" {
				op.facts[label] = p
				continue
			}
		}
		op.prose = append(op.prose, block)
	}
}

// labelOf returns the label at the beginning of a paragraph, or "".
func labelOf(p *comment.Paragraph) string {
	first, ok := p.Text[0].(comment.Plain)
	if !ok {
		return ""
	}
	for _, label := range Labels {
		if strings.HasPrefix(string(first), label+":") {
			return label
		}
	}
	return ""
}

// plainLinks replaces links whose targets are not on the page by the names of the targets.
func plainLinks(blocks []comment.Block, anchors map[string]string) []comment.Block {
	text := func(ts []comment.Text) []comment.Text {
		out := slices.Clone(ts)
		for i, t := range out {
			l, ok := t.(*comment.DocLink)
			if !ok {
				continue
			}
			name := comment.Plain(strings.TrimPrefix(strings.TrimPrefix(l.Recv+"."+l.Name, "Runtime."), "."))
			if anchors[l.Recv+"."+l.Name] == "" {
				out[i] = name
			} else {
				out[i] = &comment.DocLink{Text: []comment.Text{name}, Recv: l.Recv, Name: l.Name}
			}
		}
		return out
	}
	out := slices.Clone(blocks)
	for i, b := range out {
		switch b := b.(type) {
		case *comment.Paragraph:
			out[i] = &comment.Paragraph{Text: text(b.Text)}
		case *comment.List:
			list := *b
			list.Items = slices.Clone(b.Items)
			for j, item := range list.Items {
				list.Items[j] = &comment.ListItem{Number: item.Number, Content: plainLinks(item.Content, anchors)}
			}
			out[i] = &list
		}
	}
	return out
}

// split splits ops by a condition.
func split(ops []*operation, in func(*operation) bool) (yes, no []*operation) {
	for _, op := range ops {
		if in(op) {
			yes = append(yes, op)
		} else {
			no = append(no, op)
		}
	}
	return yes, no
}
