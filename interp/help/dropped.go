package help

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
)

// effects are the functions and methods of the packages for cells that have results and do something
// else besides. A statement may drop their results.
var effects = strings.Fields(`
	symmem.AllGather symmem.AllGatherMatMul symmem.AllReduce symmem.AllToAll symmem.Async symmem.Broadcast
	symmem.Capture symmem.Compare symmem.Compile symmem.CompileAt symmem.DevComm symmem.Elapsed symmem.Empty
	symmem.Explain symmem.Findings symmem.FromTorch symmem.Host symmem.Init symmem.Load symmem.LoadKernel
	symmem.Local symmem.MatMul symmem.MatMulReduceScatter symmem.Maybe symmem.Measure symmem.MeasureRuns symmem.MeasureTurns
	symmem.MultimemAllReduce symmem.MultimemOneShotAllReduce symmem.MustStart symmem.NewEvent symmem.NewGroup
	symmem.NewNamedGroup symmem.NewStream symmem.NewTokenSwitch symmem.OneShotAllReduce symmem.ReduceScatter
	symmem.Rendezvous symmem.Start symmem.Survivors symmem.Trace symmem.TwoShotAllReduce symmem.Window
	Graph.Elapsed Group.Comm Group.Empty Group.FromTorch MemPool.Empty
	Tensor.Arange Tensor.CopyFrom Tensor.Fill Tensor.Linspace Tensor.Normal Tensor.Rand
	Tensors.Local Tensors.Symmetric
	TokenSwitch.Combine TokenSwitch.Dispatch TokenSwitch.DispatchSend TokenSwitch.Routing
	display.Clear display.Display display.NewProgress display.Run display.Update`)

// cellPackages are the packages whose functions Dropped knows.
// A package stands before the package that its path begins with.
var cellPackages = []string{check.SymmemPath + "/expect", check.SymmemPath, check.DisplayPath, "github.com/symmrepl/symmrepl/chart",
	"github.com/symmrepl/symmrepl/show"}

// Dropped reports whether a statement that drops a function's results does nothing: the function
// belongs to a package for cells, has results, and has no effect besides.
func Dropped(f *types.Func) bool {
	if f.Pkg() == nil || f.Signature().Results().Len() == 0 {
		return false
	}
	i := slices.IndexFunc(cellPackages, func(p string) bool { return strings.HasPrefix(f.Pkg().Path()+"/", p+"/") })
	if i < 0 {
		return false
	}
	owner := path.Base(cellPackages[i])
	if r := f.Signature().Recv(); r != nil {
		if owner = typeName(r.Type()); owner == "Runtime" {
			return false // what programs call; cells have functions
		}
	}
	return !slices.Contains(effects, owner+"."+f.Name())
}

// droppedNote returns the note for a statement that drops the result of a call that does nothing
// else; "" for other statements. The value of a cell is shown, and calls in function literals are
// measured: there it is for options and changed kernels, which nobody wants to see or measure.
func droppedNote(c *check.Cell, s *ast.ExprStmt, literal bool) string {
	call, ok := ast.Unparen(s.X).(*ast.CallExpr)
	if !ok {
		return ""
	}
	var name *ast.Ident
	var receiver ast.Expr
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = fun
	case *ast.SelectorExpr:
		name, receiver = fun.Sel, fun.X
	default:
		return ""
	}
	f, ok := c.Info.Uses[name].(*types.Func)
	if !ok || !Dropped(f) {
		return ""
	}
	result := typeName(f.Signature().Results().At(0).Type())
	takesOption := slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return typeName(c.Info.TypeOf(arg)) == "Option" })
	text := brief(call)
	switch {
	case result == "Option":
		return fmt.Sprintf("note: %s is an option and does nothing by itself: it belongs to the arguments of a call", text)
	case result == "Kernel" && f.Signature().Recv() != nil:
		kept, is := receiver.(*ast.Ident)
		if !is {
			return fmt.Sprintf("note: %s returns another kernel, which nothing keeps: k := %[1]s", text)
		}
		return fmt.Sprintf("note: %s returns another kernel and leaves %s as it is: %[2]s = %[1]s", text, kept.Name)
	case literal || s.X == c.Value || takesOption: // Into is one
		return ""
	case result == "Tensor":
		return fmt.Sprintf("note: %s returns another tensor, which nothing keeps: y := %[1]s", text)
	case result == "Data":
		return fmt.Sprintf("note: %s is shown as the last value of a cell only: Display(%[1]s) shows it here", text)
	case result == "Chart" || result == "Widget":
		return fmt.Sprintf("note: %s is shown as the last value of a cell only: Display(display.Auto(%[1]s)) shows it here", text)
	}
	return fmt.Sprintf("note: nothing uses the result of %s, which is shown as the last value of a cell only: fmt.Println(%[1]s) prints it", text)
}

// brief returns the text of a call, without its arguments if they are long.
func brief(call *ast.CallExpr) string {
	const most = 60
	text := types.ExprString(call)
	if len(text) <= most && !strings.Contains(text, "\n") {
		return text
	}
	return types.ExprString(&ast.CallExpr{Fun: call.Fun, Args: []ast.Expr{ast.NewIdent("…")}})
}

// typeName returns the name of a named type or of the named type that a pointer points to, "" for
// other types.
func typeName(t types.Type) string {
	if n := check.NamedOf(t); n != nil {
		return n.Obj().Name()
	}
	return ""
}
