//lint:file-ignore U1000 the fields are those of yaegi

package yaegi

import (
	"go/build"
	"go/token"
	"io"
	"io/fs"
	"reflect"
	"sync"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// Version is that of yaegi whose memory this package has.
const Version = "v0.16.1"

// modulePath is that of yaegi.
const modulePath = "github.com/traefik/yaegi"

// What follows has the fields of yaegi's own structs, under their names and in their places: see match. Pointers to what is not looked at are unsafe.Pointers.

// Node is a node of a tree that yaegi has compiled.
type Node struct {
	debug      unsafe.Pointer
	child      []*Node
	anc        *Node // the node that it is a child of
	param      []*itype
	start      *Node // of the nodes below it, the first that is executed
	tnext      *Node // what is executed after it
	fnext      *Node // what is executed after a condition that does not hold
	interp     *interp.Interpreter
	index      int64
	findex     int // where in its frame the value is
	level      int // of how many functions around
	nleft      int
	nright     int
	kind       uint
	pos        token.Pos
	sym        *symbol
	typ        *itype
	recv       unsafe.Pointer // of a selection of a method
	types      []reflect.Type // of a function: its variables
	scope      *scope
	action     uint
	exec       Step
	gen        generator
	val        any           // of a selection of a method: the function's node
	rval       reflect.Value // of a constant
	ident      string
	redeclared bool
	meta       any
}

// Step is what yaegi executes a node by: it is given the frame, and returns the next step.
type Step func(*Frame) Step

// generator makes the step of a node once those that follow it are made.
type generator func(*Node)

// Frame has the variables of a call.
type Frame struct {
	id        uint64 // see Interpreter.runID
	debug     unsafe.Pointer
	root      *Frame // of the package-level variables
	anc       *Frame // of the caller, or of the function around a function literal
	data      []Value
	mutex     sync.RWMutex
	deferred  [][]reflect.Value
	recovered any
	done      reflect.SelectCase
}

// symbol is what a name means.
type symbol struct {
	kind    uint
	typ     *itype
	node    *Node // of a function
	from    []*Node
	recv    unsafe.Pointer
	index   int // where in its frame the variable is; negative for a function
	rval    reflect.Value
	builtin generator
	global  bool // it is of a package
}

// itype is a type.
type itype struct {
	cat          uint
	field        []structField
	key          *itype
	val          *itype // the element
	recv         *itype
	arg          []*itype
	ret          []*itype
	ptr          *itype // the type of pointers to it, nil if there is none
	method       []*Node
	constraint   []*itype
	ulconstraint []*itype
	instance     []*itype
	name         string
	path         string
	length       int
	rtype        reflect.Type // nil until it is laid out
	node         *Node        // its declaration
	scope        *scope
	str          string
	incomplete   bool
	untyped      bool
	isBinMethod  bool
}

// structField is a field of a struct type.
type structField struct {
	name  string
	tag   string
	embed bool
	typ   *itype
}

// scope is what names mean in a package, a function or a block.
type scope struct {
	anc         *scope
	child       []*scope
	def         *Node
	loop        *Node
	loopRestart *Node
	pkgID       string
	pkgName     string
	types       []reflect.Type // of the variables
	level       int
	sym         map[string]*symbol
	global      bool
	iota        int
}

// box is a value of an interface type of cells that has methods.
type box struct {
	node  *Node // nil for an interface that holds nothing
	value reflect.Value
}

// program is an interp.Program.
type program struct {
	pkgName string
	root    *Node
	init    []*Node
}

// interpreter is an interp.Interpreter.
type interpreter struct {
	id     uint64 // the number that live frames carry
	nindex int64
	name   string
	opt
	cancelChan bool // operations of channels end when they receive from done
	fset       *token.FileSet
	binPkg     interp.Exports
	rdir       map[string]bool
	mapTypes   map[reflect.Value][]reflect.Type
	mutex      sync.RWMutex
	frame      *Frame // the package-level variables that executed programs have declared
	universe   *scope
	scopes     map[string]*scope // of packages
	srcPkg     map[string]map[string]*symbol
	pkgNames   map[string]string
	done       chan struct{}
	roots      []*Node // every tree ever compiled, kept for a debugger
	generic    map[string]*Node
	hooks      unsafe.Pointer
	debugger   *interp.Debugger
}

// opt are the options of an interpreter.
type opt struct {
	dotCmd       string
	context      build.Context
	stdin        io.Reader
	stdout       io.Writer
	stderr       io.Writer
	args         []string
	env          map[string]string
	filesystem   fs.FS
	astDot       bool
	cfgDot       bool
	noRun        bool
	fastChan     bool
	specialStdio bool
	unrestricted bool
}

// Of the four children of a function.
const (
	nameChild = 1
	typeChild = 2
	bodyChild = 3
)

// kinds are the kinds of nodes that are looked at, by their names in yaegi.
var kinds struct {
	funcType, funcDecl, funcLit                                                   uint
	assignStmt, returnStmt, goStmt, deferStmt, defineXStmt, assignXStmt, exprStmt uint
	addressExpr                                                                   uint
}
