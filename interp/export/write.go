package export

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/interp/recorded"
)

// fileHeader begins a program in one file, folderHeader one in a folder with everything it needs.
const (
	fileHeader = `// A session of symmrepl as a program: each rank runs a process of it and prints what that rank printed in the session.
//
//	go build -o session . && torchrun --nproc-per-node %d --no-python ./session
//
// builds and runs it in a module that requires github.com/symmrepl/symmrepl; ":export FOLDER" writes one that has all it needs. mpirun and
// srun will do for torchrun, and so will starting the processes with RANK, WORLD_SIZE and the same MASTER_PORT set.
package main
`
	folderHeader = `// A session of symmrepl as a program: each rank runs a process of it and prints what that rank printed in the session.
//
//	go build -o session . && torchrun --nproc-per-node %d --no-python ./session
//
// builds and runs it on Linux, with Go %s and a C++ compiler: the sources of all that it uses are in the folder vendor. mpirun and srun
// will do for torchrun, and so will starting the processes with RANK, WORLD_SIZE and the same MASTER_PORT set.
package main
`
)

func quoted(s string) string { return strconv.Quote(s) }

// write assembles the program.
func (p *program) write() (text string, err error) {
	current := 0
	defer func() {
		switch e := recover().(type) {
		case nil:
		case unnameable:
			err = &recorded.Error{Cell: current, Msg: e.Error(), Hint: "convert it to another, such as an interface"}
		default:
			panic(e)
		}
	}()
	var body, calls strings.Builder
	run := p.unused("run")
	symm := p.pkg(symmemPath)
	for _, c := range p.cells {
		current = c.ID
		done := p.cell(c)
		fmt.Fprintf(&body, "\n// %s.\n", recorded.Title(c.Cell))
		if c.Failed != "" && c.Source != "" {
			body.WriteString("//\n" + commented(c.Source))
		}
		for _, d := range done.decls {
			body.WriteString("\n" + d + "\n")
		}
		if done.body == "" {
			continue
		}
		name := p.unused(fmt.Sprint("cell", c.ID))
		if len(done.decls) > 0 || c.Failed != "" {
			body.WriteString("\n")
		}
		fmt.Fprintf(&body, "func %s() {\n%s\n}\n", name, done.body)
		ranks := ""
		for _, r := range c.Ranks {
			ranks += fmt.Sprint(", ", r)
		}
		fmt.Fprintf(&calls, "\t%s(%s%s)\n", run, name, ranks)
	}
	var vars strings.Builder
	for _, v := range p.vars {
		current = v.cell.ID
		fmt.Fprintf(&vars, "\t%s %s\n", v.name, p.typeText(v.typ))
	}
	current = 0
	again := p.functions(&vars)
	if p.shown != "" {
		fmt.Fprintf(&vars, "\t%s = %s.Printer{\n%s%s\t}\n", p.shown, p.pkg(showPath), literal("Names", p.renamed),
			literal("Fields", p.fields))
	}
	var out strings.Builder
	out.WriteString(p.header)
	out.WriteString("\nimport (\n")
	paths := slices.SortedFunc(maps.Keys(p.written), func(a, b string) int {
		return cmp.Or(strings.Count(domain(a), ".")-strings.Count(domain(b), "."), cmp.Compare(a, b))
	})
	for i, path := range paths {
		if i > 0 && domain(paths[i-1]) != domain(path) && strings.Contains(domain(path), ".") {
			out.WriteString("\n")
		}
		fmt.Fprintf(&out, "\t%s %q\n", p.alias(path), path)
	}
	out.WriteString(")\n")
	if vars.Len() > 0 {
		out.WriteString("\n// The variables of the session.\nvar (\n" + vars.String() + ")\n")
	}
	world := p.unused("world")
	fmt.Fprintf(&out, "\nfunc main() {\n\t%s := %s.MustStart()\n%s\t%s.Close()\n}\n", world, symm, calls.String(), world)
	fmt.Fprintf(&out, `
// %s runs a cell, on all ranks if none are given, and waits until all ranks are done.
func %s(cell func(), ranks ...int) {
	here := len(ranks) == 0
	for _, r := range ranks {
		here = here || r == %s.Rank()
	}
	if here {
		cell()
	}
	%s.Meet()
}
`, run, run, symm, symm)
	out.WriteString(body.String() + again)
	return out.String(), nil
}

// functions declares the variables of functions that are defined several times, and returns methods
// that call them.
func (p *program) functions(vars *strings.Builder) (methods string) {
	for _, key := range slices.Sorted(maps.Keys(p.funcs)) {
		f := p.funcs[key]
		if f.count < 2 {
			continue
		}
		if f.method == nil {
			fmt.Fprintf(vars, "\t%s %s\n", f.name, p.typeText(f.sig))
			continue
		}
		receiver := p.typeText(f.sig.Recv().Type())
		sig := p.signature(f.sig, nil)
		fmt.Fprintf(vars, "\t%s func(%s, %s\n", f.name, receiver, strings.Replace(sig[1:], ", ) ", ") ", 1))
		names, call := []string{}, []string{"receiver"}
		for i := range f.sig.Params().Len() {
			name := fmt.Sprint("p", i)
			names = append(names, name)
			if f.sig.Variadic() && i == f.sig.Params().Len()-1 {
				name += "..."
			}
			call = append(call, name)
		}
		do := f.name + "(" + strings.Join(call, ", ") + ")"
		if f.sig.Results().Len() > 0 {
			do = "return " + do
		}
		methods += fmt.Sprintf("\nfunc (receiver %s) %s%s { %s }\n", receiver, f.method.Name(), p.signature(f.sig, names), do)
	}
	return methods
}

// literal returns a field of a struct literal that is a map as text, "" if the map is empty.
func literal(field string, m map[string]string) string {
	if len(m) == 0 {
		return ""
	}
	text := "\t\t" + field + ": map[string]string{\n"
	for _, key := range slices.Sorted(maps.Keys(m)) {
		text += fmt.Sprintf("\t\t\t%q: %q,\n", key, m[key])
	}
	return text + "\t\t},\n"
}

// domain returns an import path up to its first slash. For packages of the standard library, it
// contains no dot.
func domain(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}

// alias returns the name to write before an import path that does not end in it.
func (p *program) alias(path string) string {
	name := p.imports[path]
	if path == name || strings.HasSuffix(path, "/"+name) {
		return ""
	}
	return name
}
