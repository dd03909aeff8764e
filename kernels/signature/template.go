package signature

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

// kind is the meaning of the word "template" before a kernel.
type kind int

const (
	ordinary       kind = iota
	template            // template <class T> __global__ void f(T* x) {...}
	specialisation      // template <> __global__ void f<float>(float* x) {...}
	instantiation       // template __global__ void f<float>(float*);
)

// templateParam is one parameter of a template.
type templateParam struct {
	name     string
	pack     bool            // class... T
	standard []cudalex.Piece // its default, or nil
}

// template parses the word "template" at a token and the parameters after it.
func (p *parser) template(at int) (kind, []templateParam) {
	if p.at(at+1) != "<" {
		return instantiation, nil
	}
	end := min(p.closing(at+1), len(p.toks))
	var list []templateParam
	for _, toks := range split(p.toks[min(at+2, end-1) : end-1]) {
		var t templateParam
		if i := slices.IndexFunc(toks, func(o cudalex.Piece) bool { return o.Text == "=" }); i >= 0 {
			toks, t.standard = toks[:i], toks[i+1:]
		}
		t.pack = slices.ContainsFunc(toks, func(o cudalex.Piece) bool { return strings.HasPrefix(o.Text, ".") })
		if n := len(toks) - 1; n > 0 && toks[n].Kind == cudalex.Word {
			t.name = toks[n].Text
		}
		list = append(list, t)
	}
	if list == nil {
		return specialisation, nil
	}
	return template, list
}

// split splits a list between angles at its commas.
func split(toks []cudalex.Piece) (list [][]cudalex.Piece) {
	var open nest
	start := 0
	for i, t := range toks {
		if open.step(t, true); len(open) == 0 && t.Text == "," {
			list = append(list, toks[start:i])
			start = i + 1
		}
	}
	if start < len(toks) {
		list = append(list, toks[start:])
	}
	return list
}

// Canonical returns the name of a kernel as in Kernel.Name, for any spacing.
func Canonical(name string) string {
	toks, err := cudalex.Tokens(name)
	if err != nil {
		return name
	}
	return render(toks)
}

// instantiated returns the kernel of an explicit instantiation. Its declaration need not name the
// parameters; the template does.
func instantiated(kernels []Kernel, declared Kernel) (Kernel, error) {
	if !strings.Contains(declared.Name, "<") {
		return declared, &cudalex.Error{Line: declared.Line,
			Msg: "write the arguments of the template behind " + declared.Name + ", as in " + declared.Name +
				"<float>(...): a kernel is launched by its name"}
	}
	if k, err := instance(kernels, declared.Name); err == nil {
		k.Line, k.Instantiation = declared.Line, declared.Instantiation
		return k, nil
	}
	for i := range declared.Params { // the template is not known, and nothing is to be edited there
		declared.Params[i].Text = nil
	}
	return declared, nil
}

// instance returns the instance of a template among kernels with the arguments in name:
// "scale<float, 4>".
func instance(kernels []Kernel, name string) (Kernel, error) {
	toks, err := cudalex.Tokens(name)
	if err != nil {
		return Kernel{}, err
	}
	name = render(toks)
	if i := slices.IndexFunc(kernels, func(k Kernel) bool { return k.Name == name && !k.Template }); i >= 0 {
		return kernels[i], nil
	}
	open := slices.IndexFunc(toks, func(t cudalex.Piece) bool { return t.Text == "<" })
	p := parser{toks: toks}
	if open < 1 || p.closing(open) != len(toks) {
		return Kernel{}, &cudalex.Error{Line: 1,
			Msg: fmt.Sprintf("%q is no instance of a template: write its name and arguments, as in f<float>", name)}
	}
	of := render(toks[:open])
	i := slices.IndexFunc(kernels, func(k Kernel) bool { return k.Name == of && k.Template })
	if i < 0 {
		return Kernel{}, &cudalex.Error{Line: 1, Msg: fmt.Sprintf("the text has no kernel that is a template %q%s", of, templates(kernels))}
	}
	k := kernels[i]
	arguments := split(toks[open+1 : len(toks)-1])
	values := map[string][]cudalex.Piece{}
	for i, t := range k.parameters {
		switch {
		case t.pack:
			return Kernel{}, &cudalex.Error{Line: k.Line,
				Msg: fmt.Sprintf("%s takes any number of arguments: instantiate it in the text, as in template __global__ void %s(...);", of, name)}
		case i < len(arguments):
			values[t.name] = arguments[i]
		case t.standard != nil:
			values[t.name] = substituted(t.standard, values)
		default:
			return Kernel{}, &cudalex.Error{Line: k.Line, Msg: fmt.Sprintf("%s lacks its argument %d, %s", name, i+1, t.name)}
		}
	}
	if len(arguments) > len(k.parameters) {
		return Kernel{}, &cudalex.Error{Line: k.Line,
			Msg: fmt.Sprintf("%s takes %d arguments, and %s gives %d", of, len(k.parameters), name, len(arguments))}
	}
	made := Kernel{Name: name, Line: k.Line}
	for _, p := range k.Params {
		q := param(substituted(p.Text, values))
		made.Params = append(made.Params, Param{Name: p.Name, Type: q.Type, Text: p.Text})
	}
	return made, nil
}

// substituted replaces the names of parameters by values.
func substituted(toks []cudalex.Piece, values map[string][]cudalex.Piece) (out []cudalex.Piece) {
	for i, t := range toks {
		member := i > 0 && (toks[i-1].Text == "::" || toks[i-1].Text == ".")
		if v, ok := values[t.Text]; ok && t.Kind == cudalex.Word && !member {
			out = append(out, v...)
			continue
		}
		out = append(out, t)
	}
	return out
}

// templates lists the templates among kernels: "; it has f, g".
func templates(kernels []Kernel) string {
	var names []string
	for _, k := range kernels {
		if k.Template {
			names = append(names, k.Name)
		}
	}
	if names == nil {
		return ""
	}
	return "; it has " + strings.Join(names, ", ")
}
