package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run"
)

// lowerer rewrites a checked cell for yaegi. Syntax is changed in place or replaced; positions stay those of the user's text.
type lowerer struct {
	program *Program
	checker *check.Checker
	c       *check.Cell
	info    *types.Info
	names   map[types.Object]string // what this cell's objects are called in yaegi
	// What functions that are defined again are called in their declaration; uses have the name of the first.
	declared     map[types.Object]string
	counters     map[types.Object]bool   // variables that are never negative
	renamed      map[types.Object]string // local variables that have another name in yaegi
	hoisted      map[types.Object]bool   // variables of the cell's top level
	places       map[*types.Var]*Storage // where they are kept
	imports      map[string]bool         // packages that the lowered code uses, by path
	hidden       run.Exports             // symbols for types that have no name in the tables
	types        map[*ast.TypeSpec]types.Object
	noted        map[string]types.Type // types of values that are converted, by key
	converters   map[string]converter  // functions that convert to interfaces, declared by this cell, by types
	asserted     map[string]types.Type // interface types of cells that this cell asserts to, by key
	implementing map[string]bool       // pairs of a type and such an interface that the runtime knows from this cell
	declarations []*ast.FuncDecl       // of such helpers
	fn           *function             // the innermost function that is being lowered
	temps        int
	recursive    []run.Recursive              // types that the cell declares
	recursion    map[*types.Named]bool        // whether a type is recursive
	params       map[types.Object]bool        // type parameters of instances: they stand for the type arguments
	locals       []*types.TypeName            // types that functions declare
	localSpecs   []ast.Spec                   // their declarations
	bearers      map[string]*types.Named      // named types that stand for struct types without a name, by their text
	instances    map[types.Object][]*instance // that this cell is the first to use
	pending      []*instance                  // of them, those that are not lowered yet
	inits        int                          // how many functions init have been lowered
	instancing   *instance                    // whose declaration is lowered; nil if it is of none
	inFunctions  map[*types.TypeName]run.InFunction
	silent       bool // what is lowered is of a package: it has no positions

	registrations []ast.Stmt // that make methods known to compiled code
}

func (p *Program) newLowerer(c *check.Cell) *lowerer {
	return &lowerer{
		program: p, checker: p.checker, c: c, info: c.Info,
		names: map[types.Object]string{}, declared: map[types.Object]string{}, counters: map[types.Object]bool{}, renamed: map[types.Object]string{},
		hoisted: map[types.Object]bool{}, places: map[*types.Var]*Storage{}, imports: map[string]bool{run.RuntimePath: true}, hidden: run.Exports{},
		types: map[*ast.TypeSpec]types.Object{}, noted: map[string]types.Type{}, converters: map[string]converter{}, asserted: map[string]types.Type{},
		implementing: map[string]bool{}, params: map[types.Object]bool{}, recursion: map[*types.Named]bool{}, instances: map[types.Object][]*instance{}, bearers: map[string]*types.Named{},
		inFunctions: map[*types.TypeName]run.InFunction{},
	}
}

// note adds the type of a key to those that the runtime has to know.
func (l *lowerer) note(key string, t types.Type) { l.noted[key] = t }

// refusal is the panic by which lowering gives up on a construct.
type refusal struct {
	pos token.Pos
	msg string
}

// refuse gives up on a construct; what names it and says what to do instead.
func (l *lowerer) refuse(pos token.Pos, what string) { panic(refusal{pos, what}) }

// function is one function body during lowering.
type function struct {
	outer    *function
	sig      *types.Signature // nil for the cell's own statements
	deferred string           // the variable that holds its deferred calls; "" when there are none
	unmarked bool             // a mark outside of a loop serves the loop
	gotos    map[string]bool  // labels that goto jumps to
	loops    int              // how many loops are around the statement that is being lowered
	name     string           // as package runtime has it
	literal  bool             // it is a function literal
	literals int              // how many function literals it has so far
	ranges   int              // and how many loops over functions
	results  []string         // names of its results, when a deferred call may read or change them
}

func (f *function) top() bool { return f.sig == nil }

// declared reports whether it is a function or method that the cell declares, or in one.
func (f *function) declared() bool {
	for ; f != nil; f = f.outer {
		if f.top() {
			return false
		}
	}
	return true
}

// repeats reports whether the statement that is being lowered may run several times in one call.
func (f *function) repeats() bool { return f.loops > 0 || len(f.gotos) > 0 }
