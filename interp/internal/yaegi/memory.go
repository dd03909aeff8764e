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

// Version is the version of yaegi whose memory layout is declared here.
const Version = "v0.16.1"

// modulePath is the path of yaegi's module.
const modulePath = "github.com/traefik/yaegi"

// The following types have the fields of yaegi's structs, with the same names and offsets: see
// match. Pointers whose targets are not used are unsafe.Pointers.

// Node is a node of a tree that yaegi has compiled.
type Node struct {
	debug      unsafe.Pointer
	child      []*Node
	anc        *Node // the parent
	param      []*itype
	start      *Node // the first of its descendants that is executed
	tnext      *Node // the node that is executed next
	fnext      *Node // the node that is executed next if a condition is false
	interp     *interp.Interpreter
	index      int64
	findex     int // index of the value in its frame
	level      int // how many functions further out that frame is
	nleft      int
	nright     int
	kind       uint
	pos        token.Pos
	sym        *symbol
	typ        *itype
	recv       unsafe.Pointer // for the selection of a method
	types      []reflect.Type // for a function: the types of its variables
	scope      *scope
	action     uint
	exec       Step
	gen        generator
	val        any           // for the selection of a method: the function's node
	rval       reflect.Value // for a constant
	ident      string
	redeclared bool
	meta       any
}

// Step executes a node in a frame and returns the next step.
type Step func(*Frame) Step

// generator makes the step of a node after the steps that follow it.
type generator func(*Node)

// Frame holds the variables of a call.
type Frame struct {
	id        uint64 // the interpreter's number when the frame was made
	debug     unsafe.Pointer
	root      *Frame // the frame of the package-level variables
	anc       *Frame // the caller's frame, or that of the function around a function literal
	data      []Value
	mutex     sync.RWMutex
	deferred  [][]reflect.Value
	recovered any
	done      reflect.SelectCase
}

// symbol is the meaning of a name.
type symbol struct {
	kind    uint
	typ     *itype
	node    *Node // for a function
	from    []*Node
	recv    unsafe.Pointer
	index   int // index of the variable in its frame; negative for a function
	rval    reflect.Value
	builtin generator
	global  bool // it belongs to a package
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
	ptr          *itype // the pointer type to it, or nil
	method       []*Node
	constraint   []*itype
	ulconstraint []*itype
	instance     []*itype
	name         string
	path         string
	length       int
	rtype        reflect.Type // nil until its layout is computed
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

// scope has the names of a package, a function or a block.
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
	node  *Node // nil for a nil interface
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
	id     uint64 // the number of live frames
	nindex int64
	name   string
	opt
	cancelChan bool // channel operations end when they receive from done
	fset       *token.FileSet
	binPkg     interp.Exports
	rdir       map[string]bool
	mapTypes   map[reflect.Value][]reflect.Type
	mutex      sync.RWMutex
	frame      *Frame // the package-level variables declared by executed programs
	universe   *scope
	scopes     map[string]*scope // scopes of packages
	srcPkg     map[string]map[string]*symbol
	pkgNames   map[string]string
	done       chan struct{}
	roots      []*Node // every tree ever compiled, for a debugger
	generic    map[string]*Node
	hooks      unsafe.Pointer
	debugger   *interp.Debugger
}

// opt has the options of an interpreter.
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

// Indices of a function's children.
const (
	nameChild = 1
	typeChild = 2
	bodyChild = 3
)

// kinds has the kinds of nodes that this package distinguishes, by their names in yaegi.
var kinds struct {
	funcType, funcDecl, funcLit                                                   uint
	assignStmt, returnStmt, goStmt, deferStmt, defineXStmt, assignXStmt, exprStmt uint
	addressExpr, callExpr                                                         uint
}

// actions has the actions of nodes that this package distinguishes, likewise.
var actions struct {
	callSlice uint // a call with a slice for a variadic parameter
}
