package serve

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/session"
)

// tensorType is the type of a tensor, as Inspect says it.
const tensorType = "*symm.Tensor"

// elements maps the types of slices that become arrays to the type of a tensor that holds them.
var elements = map[string]string{
	"[]float32": "F32", "[]float64": "F64", "[]int8": "I8", "[]uint8": "U8", "[]byte": "U8", "[]int32": "I32", "[]uint32": "U32",
	"[]int16": "I16", "[]uint16": "U16", "[]bool": "Bool", "[]complex64": "C64", "[]complex128": "C128", "[]int": "I64", "[]int64": "I64", "[]uint": "U64", "[]uint64": "U64",
}

// get lets ranks save the value of an expression, and returns the saved values.
func (s *server) get(ctx context.Context, id uint64, q *get) (answer, error) {
	if err := expression("expr", q.Expr); err != nil {
		return answer{}, err
	}
	found, errs, err := s.types(ctx, q.Expr, q.Ranks)
	if err != nil {
		return answer{}, err
	}
	if len(errs) > 0 {
		return answer{Reply: &reply{Errors: toFailed(errs, s.Console.Size)}}, nil
	}
	if q.Socket != "" {
		return s.share(ctx, q, found)
	}
	base := filepath.Join(s.folder, fmt.Sprintf("get%d-", id))
	path := strconv.Quote(base) + ` + fmt.Sprint(symm.Rank())`
	var list []got
	for _, t := range found {
		if t.name == "no value" || strings.HasPrefix(t.name, "type ") {
			return answer{}, wrong("expr", "%s is no value on rank %s: it is %s", q.Expr, session.FormatRanks(t.ranks), t.name)
		}
		source := saveJSON(q.Expr, path)
		dtype, isSlice := elements[t.name]
		switch {
		case t.name == tensorType:
			source = fmt.Sprintf("{ t := (%s); %s }", q.Expr, saveTensor(path))
		case isSlice:
			source = fmt.Sprintf("{ v := (%s); t := symm.Local(symm.%s, len(v)).CopyFrom(v); %s; t.Free() }", q.Expr, dtype, saveTensor(path))
		}
		failed := s.eval(ctx, "get", source, t.ranks)
		for _, rank := range t.ranks {
			one := got{Rank: rank, File: fmt.Sprint(base, rank, ".safetensors")}
			if t.name != tensorType && !isSlice {
				file := fmt.Sprint(base, rank, ".json")
				if text, err := os.ReadFile(file); err == nil {
					one.File, one.Value = "", string(text)
				}
				remove(file)
			} else if file := fmt.Sprint(base, rank, ".npy"); exists(file) {
				one.File = file
			}
			list = append(list, one)
		}
		if failed != nil {
			for _, one := range list {
				remove(one.File)
			}
			return *failed, nil
		}
	}
	for _, one := range list {
		if one.Value != "" {
			continue
		}
		if _, err := os.Stat(one.File); err != nil {
			return answer{}, fmt.Errorf("rank %d has saved its tensor, but not where this process sees it: %w; is it on another host? "+
				"Save it to a folder that both see, or gather it on a rank of this host", one.Rank, err)
		}
	}
	return answer{Got: list}, nil
}

// saveTensor returns statements that write the tensor t to a file. The format safetensors has no
// complex numbers of 16 bytes; these go to a file of numpy's format.
func saveTensor(path string) string {
	return fmt.Sprintf(`path := %s; if t.DType() == symm.C128 { t.Save(path + ".npy") } else { t.Save(path + ".safetensors") }`, path)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// argumentError is the error of a field of get or put.
type argumentError struct{ name, msg string }

func (e *argumentError) Error() string { return e.msg }

func wrong(name, format string, args ...any) error {
	return &argumentError{name, fmt.Sprintf(format, args...)}
}

// expression refuses a field whose text is not one expression of Go.
func expression(name, text string) error {
	if _, err := parser.ParseExpr(text); err != nil {
		return wrong(name, "%.100q is no expression of Go: %v", text, err)
	}
	return nil
}

// assignable refuses the name of a variable that would hide a name that cells need.
func assignable(name string, found []typed) error {
	if name == "_" {
		return wrong("name", "_ is not the name of a variable")
	}
	if types.Universe.Lookup(name) != nil {
		return wrong("name", "%s is predeclared by Go: take another name", name)
	}
	for _, t := range found {
		if what, _, _ := strings.Cut(t.name, " "); what == "package" || what == "type" {
			return wrong("name", "%s is a %s, which cells could not use any more: take another name", name, what)
		}
	}
	return nil
}

// typed are ranks on which an expression has the same type.
type typed struct {
	name  string
	ranks []int
}

// types returns the types that an expression has on ranks, or the errors of ranks on which it has
// none.
func (s *server) types(ctx context.Context, expr string, ranks []int) (found []typed, errs []*session.Error, err error) {
	answers, err := s.Console.Session.Inspect(ctx, ranks, session.Query{Topic: session.TopicType, Arg: expr})
	if err != nil {
		return nil, nil, err
	}
next:
	for _, a := range answers {
		if a.Err != nil {
			for _, e := range errs {
				if e.Msg == a.Err.Msg && e.Kind == a.Err.Kind {
					e.Ranks = append(e.Ranks, a.Rank)
					continue next
				}
			}
			errs = append(errs, a.Err)
			continue
		}
		name, _, _ := strings.Cut(a.Text, " constant ")
		for i := range found {
			if found[i].name == name {
				found[i].ranks = append(found[i].ranks, a.Rank)
				continue next
			}
		}
		found = append(found, typed{name, []int{a.Rank}})
	}
	return found, errs, nil
}

// eval runs a cell that is not recorded. It returns the answer that its failure makes, or nil.
func (s *server) eval(ctx context.Context, name, source string, ranks []int) *answer {
	return s.evalGiving(ctx, session.Cell{Name: name, Source: source, Ranks: ranks})
}

// evalGiving evaluates a silent cell, which may give a variable a value.
func (s *server) evalGiving(ctx context.Context, cell session.Cell) *answer {
	cell.Silent = true
	r := s.Console.Session.Eval(ctx, cell)
	if len(r.Errors) == 0 {
		return nil
	}
	for _, e := range r.Errors {
		if e.Hint == "" && strings.Contains(e.Msg, unix.ENOSPC.Error()) {
			e.Hint = userdir.SharedVariable + " names another folder for tensors, where there is more room"
		}
	}
	errs := toFailed(r.Errors, s.Console.Size)
	if lost := s.lost(errs); lost != "" {
		return &answer{Lost: lost}
	}
	return &answer{Reply: &reply{Cell: r.Cell, Elapsed: r.Elapsed, Errors: errs}}
}

// put lets ranks load files into a variable. A tensor of the type and the shape of the files is
// filled in place, so that handles of it stay good.
func (s *server) put(ctx context.Context, q *put) (answer, error) {
	if err := expression("name", q.Name); err != nil {
		return answer{}, err
	}
	found, _, err := s.types(ctx, q.Name, q.Ranks)
	if err != nil {
		return answer{}, err
	}
	if token.IsIdentifier(q.Name) {
		if err := assignable(q.Name, found); err != nil {
			return answer{}, err
		}
	}
	if q.Text != "" {
		return s.assign(ctx, q)
	}
	if q.Ranks != nil && len(q.Ranks) < s.Console.Size && !q.Ordinary {
		return answer{}, errors.New("a symmetric tensor is made by all ranks: name all of them, or let it be an ordinary one")
	}
	file := strconv.Quote(q.File)
	load := fmt.Sprintf("symm.Load(%s)", file)
	if q.Ordinary {
		load = fmt.Sprintf("symm.Load(%s, symm.Ordinary())", file)
	}
	fill := fmt.Sprintf("in := symm.Load(%s, symm.Ordinary()); (%s).CopyFrom(in); in.Free()", file, q.Name)
	there := len(found) == 1 && found[0].name == tensorType &&
		(len(found[0].ranks) == len(q.Ranks) || len(found[0].ranks) == s.Console.Size)
	source := ""
	switch {
	case !token.IsIdentifier(q.Name) && !there:
		return answer{}, wrong("name", "%s is neither a name nor a tensor on all ranks", q.Name)
	case !token.IsIdentifier(q.Name):
		source = "{ " + fill + " }"
	case there:
		shape := fmt.Sprint(q.Shape)
		source = fmt.Sprintf("if %[1]s != nil && %[1]s.DType() == symm.%[2]s && fmt.Sprint(%[1]s.Shape()) == %[3]q { %[4]s } else { %[1]s = %[5]s }",
			q.Name, q.DType, shape, fill, load)
	default:
		source = q.Name + " := " + load
	}
	if failed := s.evalGiving(ctx, session.Cell{Name: "put", Source: source, Ranks: q.Ranks, Gives: given(q.Name)}); failed != nil {
		return *failed, nil
	}
	return answer{Done: true}, nil
}

// given returns the variable that a put gives a value: "" for an element of one.
func given(name string) string {
	if token.IsIdentifier(name) {
		return name
	}
	return ""
}

// assign makes the value of an expression the value of a variable.
func (s *server) assign(ctx context.Context, q *put) (answer, error) {
	if !token.IsIdentifier(q.Name) {
		return answer{}, wrong("name", "%s is not the name of a variable", q.Name)
	}
	if err := expression("text", q.Text); err != nil {
		return answer{}, err
	}
	if failed := s.evalGiving(ctx, session.Cell{Name: "put", Source: q.Name + " := " + q.Text, Ranks: q.Ranks, Gives: q.Name}); failed != nil {
		return *failed, nil
	}
	return answer{Done: true}, nil
}
