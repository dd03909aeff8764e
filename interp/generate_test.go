package interp

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// generator writes random programs that compile and terminate, from generatedPrelude and the
// productions of grammar_test.go, with the holes filled at random.
type generator struct {
	*rand.Rand
	out   strings.Builder
	vars  []generatedVar
	funcs []string // calls of functions, with holes
	names int
	depth int // of blocks
}

type generatedVar struct{ name, typ string }

// generateProgram returns the program of a seed.
func generateProgram(seed uint64) string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	g.out.WriteString(generatedPrelude)
	for range 1 + g.IntN(3) {
		g.function()
	}
	g.statements(3 + g.IntN(5))
	for _, call := range g.funcs {
		g.lines("fmt.Println(try(func() { " + call + " }))")
	}
	return g.out.String()
}

func (g *generator) pick(list []string) string { return list[g.IntN(len(list))] }

func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprint(prefix, g.names)
}

// function writes a function; those after it may call it.
func (g *generator) function() {
	f := g.name("f")
	var params, args, results, values, shown []string
	for range g.IntN(4) {
		t, p := g.pick(generatedTypes), g.name("p")
		g.vars = append(g.vars, generatedVar{p, t})
		params, args = append(params, p+" "+t), append(args, "{"+t+"}")
	}
	named := g.IntN(2) == 0
	for range g.IntN(4) {
		t, r := g.pick(generatedTypes), g.name("r")
		values, shown = append(values, "{"+t+"}"), append(shown, r)
		if named {
			g.vars = append(g.vars, generatedVar{r, t})
			t = r + " " + t
		}
		results = append(results, t)
	}
	g.lines(fmt.Sprintf("func %s(%s) (%s) {", f, strings.Join(params, ", "), strings.Join(results, ", ")))
	g.lines("step()")
	g.statements(2 + g.IntN(5))
	g.lines("return " + strings.Join(values, ", ") + "\n}")
	g.vars = nil
	call := f + "(" + strings.Join(args, ", ") + ")"
	if shown != nil {
		list := strings.Join(shown, ", ")
		call = list + " := " + call + "; show(" + list + ")"
	}
	g.funcs = append(g.funcs, call)
}

// statements writes statements; the variables that they declare end with them.
func (g *generator) statements(n int) {
	vars := len(g.vars)
	g.depth++
	for range n {
		switch k := g.IntN(10); {
		case k < 4 || g.depth > 4:
			t, v := g.pick(generatedTypes), g.name("v")
			g.lines(strings.NewReplacer("V", v, "T", t).Replace(g.pick([]string{"V := (T)({T})\n_ = V", "var V T = {T}\n_ = V", "var V T\nV = {T}\n_ = V"})))
			g.vars = append(g.vars, generatedVar{v, t})
		case k == 4:
			var list []string
			for _, i := range g.Perm(len(g.vars))[:min(3, len(g.vars))] {
				list = append(list, g.vars[i].name)
			}
			g.lines("show(" + strings.Join(append(list, "{int}"), ", ") + ")")
		case k == 5 && len(g.vars) > 0:
			v, w := g.vars[g.IntN(len(g.vars))], g.vars[g.IntN(len(g.vars))]
			if v == w {
				g.lines(v.name + " = {" + v.typ + "}")
			} else {
				g.lines(v.name + ", " + w.name + " = {" + v.typ + "}, {" + w.typ + "}")
			}
		default:
			g.production(g.pick(strings.Split(generatedStatements, "\n\n")))
		}
	}
	g.depth--
	g.vars = g.vars[:vars]
}

// production writes a statement. In its pattern, # stands for a fresh number, and a line @ for
// other statements.
func (g *generator) production(text string) {
	g.names++
	text = strings.ReplaceAll(text, "#", fmt.Sprint(g.names))
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "@" {
			g.statements(1 + g.IntN(3))
			continue
		}
		g.lines(line)
	}
}

func (g *generator) lines(text string) { g.out.WriteString(g.fill(text, 3) + "\n") }

// hole matches {T}, an expression of type T, and {!T}, an expression that is not constant.
var hole = regexp.MustCompile(`\{!?(struct\{.*?\}|[^{}\s][^{}\n]*?)\}`)

func (g *generator) fill(text string, depth int) string {
	return hole.ReplaceAllStringFunc(text, func(h string) string {
		t := strings.TrimPrefix(h[1:len(h)-1], "!")
		if generatedLeaves[t] == nil {
			return h // braces of Go
		}
		return g.expr(t, depth, h[1] == '!')
	})
}

func (g *generator) expr(t string, depth int, variable bool) string {
	var vars []string
	for _, v := range g.vars {
		if v.typ == t {
			vars = append(vars, v.name)
		}
	}
	leaf := func() string { return g.pick(generatedLeaves[t]) }
	switch k := g.IntN(8); {
	case vars != nil && (variable || depth <= 0 || k < 2):
		return g.pick(vars)
	case variable:
		return g.fill("choose["+t+"]({bool}, ", min(depth, 1)-1) + leaf() + ", " + leaf() + ")"
	case depth <= 0:
		return leaf()
	case k == 2:
		return g.fill("func() "+t+" { step(); return {"+t+"} }()", depth-1)
	case k == 3:
		return g.fill("func() (r "+t+") { defer func() { recover() }(); r = {"+t+"}; return {"+t+"} }()", depth-1)
	}
	list := generatedExpressions[t]
	if slices.Contains(generatedIntegers, t) {
		if list == nil || g.IntN(2) == 0 {
			list = generatedExpressions["integer"]
		}
		return g.fill(strings.NewReplacer("{T}", "{"+t+"}", "{!T}", "{!"+t+"}", "T(", t+"(", "{!U}",
			"{!"+g.pick(generatedIntegers)+"}").Replace(g.pick(list)), depth-1)
	}
	if list == nil {
		return leaf()
	}
	return g.fill(g.pick(list), depth-1)
}

// TestGenerated checks that random programs behave in a session as with the toolchain.
func TestGenerated(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go toolchain here")
	}
	n := 40
	if testing.Short() {
		n = 5
	}
	var programs []program
	for seed := range n {
		programs = append(programs, program{name: fmt.Sprint("seed ", seed), source: generateProgram(uint64(seed))})
	}
	for i, want := range runGo(t, programs) {
		p := programs[i]
		t.Run(p.name, func(t *testing.T) {
			stdout, stderr, err := captured(t, []string{p.source})
			failure := ""
			if err != nil {
				failure = err.Msg
			}
			if got := withoutDetails(outputOf(stdout, stderr, failure)); got != withoutDetails(want) {
				t.Errorf("it prints\n%s\nwant\n%s\n%v\n%s", got, want, err, p.source)
			}
		})
	}
}

// details matches parts of Go's messages that cells lack: the numbers of an index in a loop, and
// the panics before the last.
var details = regexp.MustCompile(`(?m)( out of range) \[.*|\n\tpanic: .*`)

// nilReceiver matches Go's message for a value method that is called on a nil pointer through an
// interface, unless the compiler knows the method statically.
var nilReceiver = regexp.MustCompile(`value method \S+ called using nil \S+ pointer`)

func withoutDetails(s string) string {
	s = nilReceiver.ReplaceAllString(s, "runtime error: invalid memory address or nil pointer dereference")
	return details.ReplaceAllString(s, "$1")
}
