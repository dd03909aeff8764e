package replay

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/session"
)

// cell is a cell of this file. It has the packages that it uses under names that no session uses,
// and leaves none of these.
func cell(source string) session.Cell {
	return session.Cell{Source: source, Silent: true, Imports: map[string]string{
		"replaySymm": check.SymmemPath, "replayFmt": "fmt", "replayJSON": "encoding/json", "replayOS": "os",
	}}
}

// The ends of the names of a rank's files.
const (
	Tensors = ".safetensors" // the tensors, by their holders: "x", "layers[2].w"
	Plain   = ".json"        // an object with the plain data, by its holders
	Result  = ".result" + Tensors
)

// Save is a cell in which each rank writes the values that the code can come to, to files whose
// names are base, the rank and Tensors or Plain. A rank without tensors writes no file of them.
func (n *Needs) Save(base string) session.Cell {
	return n.moving(base, `	if len(tensors) > 0 {
		replaySymm.SaveFile(tensors, path+"`+Tensors+`")
	}
	text, err := replayJSON.Marshal(plain)
	if err == nil {
		err = replayOS.WriteFile(path+"`+Plain+`", text, 0o600)
	}
	if err != nil {
		panic(err)
	}
`)
}

// Load is a cell in which each rank gives its variables the values that Save has written. It fails
// where the lengths of slices or nil pointers are others.
func (n *Needs) Load(base string) session.Cell {
	return n.moving(base, `	saved := map[string]replayJSON.RawMessage{}
	text, err := replayOS.ReadFile(path + "`+Plain+`")
	if err == nil {
		err = replayJSON.Unmarshal(text, &saved)
	}
	if err != nil {
		panic(err)
	}
	for name, value := range fixed {
		if text, _ := replayJSON.Marshal(value); string(text) != string(saved[name]) {
			panic(replayFmt.Sprintf("%s is %s, not %s", name, text, saved[name]))
		}
	}
	for name, value := range plain {
		if fixed[name] != nil {
			continue
		}
		if err := replayJSON.Unmarshal(saved[name], value); err != nil {
			panic(replayFmt.Sprintf("%s: %v", name, err))
		}
	}
	for name, t := range tensors {
		in := replaySymm.Load(path+"`+Tensors+`", name, replaySymm.Ordinary())
		t.CopyFrom(in)
		in.Free()
	}
`)
}

// Run is a cell that runs the code once. Its value is the device time of the code's work on the
// current stream. Each rank writes the tensor with which the code ends, if it does, to a file whose
// name is base, the rank and Result.
func (n *Needs) Run(base string) session.Cell {
	if !n.tensor {
		return cell("replaySymm.Elapsed(func() { " + n.code + "\n})")
	}
	return cell(`func() interface{} {
	var replayResult *replaySymm.Tensor
	took := replaySymm.Elapsed(func() { ` + n.code[:n.last] + "replayResult = " + n.code[n.last:] + `
	})
	if replayResult != nil {
		replaySymm.SaveFile(map[string]*replaySymm.Tensor{"the result": replayResult}, ` + place(base) + `+"` + Result + `")
	}
	return took
}()`)
}

// place is an expression for the beginning of the names of a rank's files.
func place(base string) string { return strconv.Quote(base) + "+replayFmt.Sprint(replaySymm.Rank())" }

// moving is a cell that finds the values of the variables, and then runs rest: tensors, pointers to
// plain data, and the fixed ones among such data, each by the expression that holds it.
func (n *Needs) moving(base, rest string) session.Cell {
	var w walk
	for _, v := range n.sent { // handles last: their memory may belong to a tensor
		if !isHandle(v.typ) {
			w.see(strconv.Quote(v.name), v.name, v.typ, 0)
		}
	}
	for _, v := range n.sent {
		if isHandle(v.typ) {
			w.see(strconv.Quote(v.name), v.name, v.typ, 0)
		}
	}
	return cell(`{
	path := ` + place(base) + `
	tensors := map[string]*replaySymm.Tensor{}
	plain, fixed := map[string]interface{}{}, map[string]interface{}{}
	seeTensor := func(name string, t *replaySymm.Tensor) {
		if t != nil {
			tensors[name] = t
		}
	}
	seeHandle := func(name string, h *replaySymm.Handle) {
		if h == nil {
			return
		}
		memory := h.GetBuffer(h.Rank(), replaySymm.U8, h.BufferSize())
		for _, t := range tensors {
			if t.Ptr() == memory.Ptr() && t.Bytes() >= memory.Bytes() {
				return
			}
		}
		tensors[name] = memory
	}
	seePlain := func(name string, p interface{}) { plain[name] = p }
	seeFixed := func(name string, value interface{}) { plain[name], fixed[name] = value, value }
	_, _, _, _ = seeTensor, seeHandle, seePlain, seeFixed
` + w.String() + rest + `}`)
}

// walk writes statements that visit the parts of a value.
type walk struct{ strings.Builder }

// see writes them for a value of type t. name is an expression for its holder.
func (w *walk) see(name, value string, t types.Type, depth int) {
	line := func(format string, args ...any) {
		fmt.Fprintf(w, strings.Repeat("\t", depth+1)+format+"\n", args...)
	}
	switch {
	case check.IsTensor(t):
		line("seeTensor(%s, %s)", name, value)
		return
	case isHandle(t):
		line(`seeHandle("the memory of "+%s, %s)`, name, value)
		return
	case isPlain(t):
		line("seePlain(%s, &%s)", name, value)
		return
	case !holdsValues(t):
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		line(`seeFixed("the length of "+%s, len(%s))`, name, value)
		w.elements(name, value, u.Elem(), depth)
	case *types.Array:
		w.elements(name, value, u.Elem(), depth)
	case *types.Struct:
		for f := range u.Fields() {
			w.see(name+"+"+strconv.Quote("."+f.Name()), value+"."+f.Name(), f.Type(), depth)
		}
	case *types.Pointer:
		line(`seeFixed(%s+" == nil", %s == nil)`, name, value)
		line("if %s != nil {", value)
		w.see(name, "(*"+value+")", u.Elem(), depth+1)
		line("}")
	}
}

// elements writes the statements for the elements of a slice or array.
func (w *walk) elements(name, value string, t types.Type, depth int) {
	i, indent := fmt.Sprint("replayAt", depth), strings.Repeat("\t", depth+1)
	fmt.Fprintf(w, "%sfor %s := range %s {\n", indent, i, value)
	w.see(fmt.Sprintf("%s+replayFmt.Sprintf(\"[%%d]\", %s)", name, i), value+"["+i+"]", t, depth+1)
	fmt.Fprintf(w, "%s}\n", indent)
}
