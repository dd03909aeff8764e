package replay

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/recorded"
)

// unsteady holds the reasons why the results of packages may be different each time.
var unsteady = map[string]string{
	"os": outside, "os/exec": outside, "os/user": outside, "net": outside, "net/http": outside, "syscall": outside,
	"path/filepath": outside,
	"crypto/rand":   unseeded, "math/rand": unseeded, "math/rand/v2": unseeded, "hash/maphash": unseeded,
	"runtime": outside, "time": clock, "fmt": input,
}

// The reasons.
const (
	outside  = "files, the environment and processes may have changed when it runs again"
	unseeded = "it gives other numbers each time"
	clock    = "the clock shows another time when it runs again"
	input    = "it reads standard input"
)

// steady are the functions of these packages that return the same each time.
var steady = map[string][]string{
	"math/rand":     {"New", "NewSource", "NewZipf"},
	"math/rand/v2":  {"New", "NewPCG", "NewChaCha8", "NewZipf"},
	"path/filepath": {"Join", "Base", "Dir", "Ext", "Clean"},
	"runtime":       {"KeepAlive", "Gosched"},
	"time":          {"Sleep", "ParseDuration", "Date", "Unix", "UnixMilli", "UnixMicro"},
}

// reading are the functions of a package that are unsteady, where the others are not.
var reading = map[string][]string{"fmt": {"Scan", "Scanf", "Scanln"}}

// refuseUnsteady refuses a function whose result may be another each time it is called in a node of
// the cell with a number, 0 for the code.
func refuseUnsteady(c *check.Cell, node ast.Node, cell int) (err error) {
	ast.Inspect(node, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || err != nil {
			return err == nil
		}
		obj := c.Info.Uses[id]
		switch obj := obj.(type) {
		case *types.Func:
			if obj.Signature().Recv() != nil {
				return true
			}
		case *types.Var:
			if obj.IsField() {
				return true
			}
		default:
			return true
		}
		if obj.Pkg() == nil {
			return true
		}
		path := obj.Pkg().Path()
		why, some := unsteady[path], reading[path]
		if why == "" || slices.Contains(steady[path], obj.Name()) || some != nil && !slices.Contains(some, obj.Name()) {
			return true
		}
		err = &recorded.Error{Cell: cell, Msg: fmt.Sprintf("%s.%s cannot be compared between sessions: %s", obj.Pkg().Name(), obj.Name(),
			why), Hint: "call it in a cell before, and keep the result in a variable"}
		return false
	})
	return err
}
