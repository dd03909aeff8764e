package run

import (
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"github.com/symmrepl/symmrepl/interp/internal/named"
	"github.com/symmrepl/symmrepl/interp/internal/unexported"
	"github.com/traefik/yaegi/interp"
)

// The trees that yaegi compiles are guarded: each call that returns, and each function of a cell that begins, first looks whether the execution that it belongs to
// was abandoned. Yaegi itself stops all interpreted code or none, so code to which a call returns late would go on as soon as the next cell runs.

// step is what yaegi executes a node by: it is given the frame, and returns the next step. Yaegi's own type differs in the name of the frame's type only.
type step func(frame unsafe.Pointer) step

// generator makes the step of a node once those that follow it are made.
type generator func(node unsafe.Pointer)

// nodes tells where the nodes of yaegi's trees have their fields.
type nodes struct {
	child, start, next, fnext, kind, gen, exec, ident, pos uintptr // offsets
	funcType, funcDecl, funcLit, assignStmt, returnStmt    uint    // kinds
	goStmt, deferStmt, defineXStmt, assignXStmt, exprStmt  uint
	addressExpr                                            uint
	node                                                   reflect.Type
	generators                                             map[uintptr]string // the names of generators, by address
	*places
}

// callGenerators are yaegi's generators for calls of compiled functions, and of function values and interpreted functions.
var callGenerators = map[string]bool{"callBin": true, "call": true}

// Of the four children of a function.
const (
	nameChild = 1
	typeChild = 2
	bodyChild = 3
)

// newNodes looks whether nodes have the fields that are needed.
func newNodes() (*nodes, error) {
	root, err := unexported.Field(reflect.ValueOf(new(interp.Program)).Elem(), programRoot, reflect.Pointer)
	if err != nil {
		return nil, err
	}
	node := root.Type().Elem()
	n := &nodes{generators: map[uintptr]string{}, node: node}
	for _, f := range []struct {
		name   string
		kind   reflect.Kind
		offset *uintptr
	}{
		{"child", reflect.Slice, &n.child}, {"start", reflect.Pointer, &n.start}, {"kind", reflect.Uint, &n.kind},
		{"gen", reflect.Func, &n.gen}, {"exec", reflect.Func, &n.exec},
		{"tnext", reflect.Pointer, &n.next}, {"fnext", reflect.Pointer, &n.fnext}, {"ident", reflect.String, &n.ident}, {"pos", reflect.Int, &n.pos},
	} {
		field, ok := node.FieldByName(f.name)
		if !ok || field.Type.Kind() != f.kind {
			return nil, fmt.Errorf("interp: %s has no field %s of kind %s", node, f.name, f.kind)
		}
		*f.offset = field.Offset
	}
	if n.places, err = newPlaces(node); err != nil {
		return nil, err
	}
	field, _ := node.FieldByName("kind")
	for name, of := range map[string]*uint{
		"funcType": &n.funcType, "funcDecl": &n.funcDecl, "funcLit": &n.funcLit, "assignStmt": &n.assignStmt, "returnStmt": &n.returnStmt,
		"goStmt": &n.goStmt, "deferStmt": &n.deferStmt, "defineXStmt": &n.defineXStmt, "assignXStmt": &n.assignXStmt,
		"exprStmt": &n.exprStmt, "addressExpr": &n.addressExpr,
	} {
		if *of = kindNamed(field.Type, name); *of == kinds {
			return nil, fmt.Errorf("interp: there is no %s %s", field.Type, name)
		}
	}
	return n, nil
}

// kinds is more than there are kinds of nodes.
const kinds = 100

// kindNamed returns the kind of a name, or kinds if there is none.
func kindNamed(of reflect.Type, name string) (number uint) {
	kind := reflect.New(of).Elem()
	for ; number < kinds; number++ {
		if kind.SetUint(uint64(number)); fmt.Sprint(kind.Interface()) == name {
			break
		}
	}
	return number
}

// guard makes the code of a tree end when its execution is abandoned, and gives it our steps: see steps.go. Yaegi has made the steps of function literals
// already; they are made again.
func (rt *Runtime) guard(node unsafe.Pointer, in *scope) {
	n := rt.yaegi.nodes
	*n.execOf(node) = nil
	children := n.childrenOf(node)
	if gen := n.genOf(node); *gen != nil && n.isCall(*gen) {
		var own *call
		if n.generatorName(*gen) == "call" {
			own = rt.newCall(node, children)
		}
		n.wrap(gen, func(s step) step {
			if own != nil {
				s = own.step(node, children, s)
			}
			if in.traced {
				s = rt.calling(in, n.callPosition(node), s)
			}
			return func(frame unsafe.Pointer) step {
				next := s(frame)
				if rt.abandoned.Load() > 0 {
					rt.leaveAbandoned()
				}
				return next
			}
		})
	}
	rt.useStep(node, in)
	rt.quicken(node)
	if n.isFunction(node) {
		for _, t := range *(*[]reflect.Type)(unsafe.Add(node, n.types)) {
			named.MendEqual(t, isBlankField)
		}
		in = in.enter()
		if f, ok := n.codeOf(node); ok {
			n.onlyOne(node)
			n.wrap(n.genOf(node), func(s step) step { return rt.keeping(node, f, s) })
		}
		if rt.postpone(node, in) != nil {
			return
		}
	}
	for _, child := range children {
		rt.guard(child, in)
	}
	if !n.isFunction(node) {
		return
	}
	start := *(*unsafe.Pointer)(unsafe.Add(children[bodyChild], n.start))
	if start == nil || *n.genOf(start) == nil {
		return
	}
	n.wrap(n.genOf(start), func(s step) step {
		return func(frame unsafe.Pointer) step {
			if rt.abandoned.Load() > 0 {
				rt.leaveAbandoned()
			}
			return s(frame)
		}
	})
	if n.kindOf(node) == n.funcLit {
		setExec(start)
	}
}

// isFunction reports whether a node is a function of a cell.
func (n *nodes) isFunction(node unsafe.Pointer) bool {
	children := n.childrenOf(node)
	return len(children) > bodyChild && n.kindOf(children[typeChild]) == n.funcType
}

// setExec makes the steps of a node and of those that follow it, where there are none.
//
//go:linkname setExec github.com/traefik/yaegi/interp.setExec
func setExec(node unsafe.Pointer)

func (n *nodes) childrenOf(node unsafe.Pointer) []unsafe.Pointer {
	return *(*[]unsafe.Pointer)(unsafe.Add(node, n.child))
}

// lenOf returns the length of a field of a type that is a slice.
func (n *nodes) lenOf(typ unsafe.Pointer, field uintptr) int {
	return (*header)(unsafe.Add(typ, field)).len
}

func (n *nodes) nameOf(node unsafe.Pointer) string { return *(*string)(unsafe.Add(node, n.ident)) }

func (n *nodes) positionOf(node unsafe.Pointer) int { return *(*int)(unsafe.Add(node, n.pos)) }

func (n *nodes) kindOf(node unsafe.Pointer) uint { return *(*uint)(unsafe.Add(node, n.kind)) }

func (n *nodes) execOf(node unsafe.Pointer) *step { return (*step)(unsafe.Add(node, n.exec)) }

func (n *nodes) genOf(node unsafe.Pointer) *generator { return (*generator)(unsafe.Add(node, n.gen)) }

// wrap makes a generator make another step of the one that it makes now, if it makes any.
func (n *nodes) wrap(gen *generator, other func(step) step) {
	plain := *gen
	*gen = func(node unsafe.Pointer) {
		plain(node)
		if exec := n.execOf(node); *exec != nil {
			*exec = other(*exec)
		}
	}
}

func (n *nodes) isCall(gen generator) bool { return callGenerators[n.generatorName(gen)] }

// generatorName returns the name of one of yaegi's generators, and something else for others.
func (n *nodes) generatorName(gen generator) string {
	at := reflect.ValueOf(gen).Pointer()
	name, known := n.generators[at]
	if !known {
		name = strings.TrimPrefix(runtime.FuncForPC(at).Name(), yaegiPrefix)
		n.generators[at] = name
	}
	return name
}

// callPosition returns where a call is: at its function's name, or at the end of its function literal.
func (n *nodes) callPosition(call unsafe.Pointer) int {
	function := n.childrenOf(call)[0]
	if n.kindOf(function) == n.funcLit {
		if entry := n.entryOf(function, Enter); entry != nil {
			end, _ := strconv.Atoi(n.nameOf(entry[2]))
			return end
		}
		return n.positionOf(call)
	}
	at := n.positionOf(call)
	if parts := n.childrenOf(function); len(parts) == 2 {
		at = max(at, n.positionOf(parts[1]))
	}
	return at
}

// entryOf returns the parts of the call of a helper that is among the first two statements of a function, nil if there is none.
func (n *nodes) entryOf(function unsafe.Pointer, helper Helper) []unsafe.Pointer {
	statements := n.childrenOf(n.childrenOf(function)[bodyChild])
	for _, statement := range statements[:min(2, len(statements))] {
		if list := n.childrenOf(statement); len(list) == 1 {
			if parts := n.childrenOf(list[0]); len(parts) > 0 && n.isHelper(parts[0], helper) {
				return parts
			}
		}
	}
	return nil
}
