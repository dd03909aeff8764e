package interp

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/help"
	"github.com/symmrepl/symmrepl/session"
)

// A statement that drops the only effect of a call, its result, is evaluated, with a remark.
func TestDroppedResults(t *testing.T) {
	const kernel = "note: k.Symmetric(\"x\") returns another kernel and leaves k as it is: k = k.Symmetric(\"x\")\n"
	const add = "note: a.Add(2) returns another tensor, which nothing keeps: y := a.Add(2)\n"
	for _, c := range []struct{ src, note string }{
		{`func f() { k.Symmetric("x") }`, kernel},
		{`func f() { for range 3 { if a == nil { k.Symmetric("x") } } }`, kernel},
		{`f := func() { k.Symmetric("x") }`, kernel},
		{`if false { k.Symmetric("x") }`, kernel},
		{`if false { ks[0].Symmetric("x") }`, "note: ks[0].Symmetric(\"x\") returns another kernel, which nothing keeps: k := ks[0].Symmetric(\"x\")\n"},
		{`if false { k = k.Symmetric("x") }`, ""},
		{`symm.Timeout(time.Second)`, "note: symm.Timeout(time.Second) is an option and does nothing by itself: it belongs to the arguments of a call\n"},
		{`symm.Grid(8); x := 1`, "note: nothing uses the result of symm.Grid(8), which is shown as the last value of a cell only: " +
			"fmt.Println(symm.Grid(8)) prints it\n"},
		{`symm.Grid(8)`, ""},
		{`if false { a.Add(2) }`, add},
		{`func f() { a.Add(2) }`, add},
		{`f := func() { a.Add(2) }`, ""}, // may be measured
		{`if false { a.Add(2, symm.Into(a)) }`, ""},
		{`if false { a.Fill(2); symm.AllReduce(a, "sum"); symm.Empty(symm.F32, 4); symm.Findings() }`, ""},
		{`if false { a.Ints() }`, "note: nothing uses the result of a.Ints(), which is shown as the last value of a cell only: fmt.Println(a.Ints()) prints it\n"},
		{`if false { symm.Map("x0 + x1 + x2 + x3 + x4 + x5 + x6", a, a, a, a, a, a, a) }`,
			"note: symm.Map(…) returns another tensor, which nothing keeps: y := symm.Map(…)\n"},
		{`display.HTML("b"); x := 1`, "note: display.HTML(\"b\") is shown as the last value of a cell only: Display(display.HTML(\"b\")) shows it here\n"},
		{`if false { display.Slider("n", 1, 0, 2) }`, "note: display.Slider(\"n\", 1, 0, 2) is shown as the last value of a cell only: " +
			"Display(display.Auto(display.Slider(\"n\", 1, 0, 2))) shows it here\n"},
		{`if false { Display(display.HTML("b")) }`, ""},
		{`strings.ToUpper("a"); x := 1`, ""},
	} {
		in := open(t, Options{})
		mustEval(t, in, "var a *symm.Tensor; var k *symm.Kernel; var ks []*symm.Kernel")
		var r session.Result
		note := stderrOf(t, func() { r = evaluate(in, session.Cell{ID: 1, Source: c.src}) })
		if r.Err != nil || note != c.note {
			t.Errorf("%q:\n%q (%v), want\n%q", c.src, note, r.Err, c.note)
		}
	}
}

// only are the functions and methods whose only effect is their result.
const only = `
	symmem.AccumulateF32
	symmem.Add symmem.AllClose symmem.Along BackendStatus.String symmem.Backends symmem.Block
	BlockSize.String Capabilities.String symmem.Caps symmem.ClearedSignals Comparison.Same Comparison.String
	symmem.Concatenate symmem.CopyEngine DType.Size DType.String symmem.DefaultDType DevReqs.String
	DeviceComm.Group DeviceComm.Resource DeviceComm.String DeviceKind.Backends symmem.DeviceKinds
	DeviceWindow.Handle DeviceWindow.String symmem.Div symmem.Doctor symmem.Equal Error.Error Error.Unwrap
	Event.Since Event.String FileTensor.String symmem.FileTensors Finding.String symmem.GPUs
	symmem.GetBackend symmem.GetMemPool symmem.GetSignalPadSize Graph.String symmem.Grid GridSize.String
	Group.Backend Group.Channels Group.LSA Group.Name Group.Rail Group.Rank Group.Ranks Group.Size
	Group.String symmem.GroupNamed Handle.BufferPtrs Handle.BufferPtrsDev Handle.BufferSize Handle.GetBuffer
	Handle.GetBufferAt Handle.GetRemoteTensor Handle.GetRemoteTensors Handle.GetSignal Handle.GetSignalPad
	Handle.GetSignalPadAt Handle.Group Handle.MulticastPtr Handle.Offset Handle.Rank Handle.SignalPadPtrs
	Handle.SignalPadPtrsDev Handle.SignalPadSize Handle.String Handle.WorldSize symmem.Into
	symmem.IsNvshmemAvailable Kernel.Kernel Kernel.Name Kernel.String Kernel.Symmetric symmem.LSA
	symmem.MajorAlign symmem.Map symmem.MaxDiff MemPool.Group MemPool.Stats MemPool.String
	symmem.MemPoolStats symmem.Mul symmem.Ordinary ParamList.String symmem.Params symmem.PendingSignals
	symmem.Rail symmem.Rank symmem.Reduce Runs.Median Runs.Share Runs.Slowest Runs.String symmem.Scales
	symmem.Shard symmem.SharedBytes Sharing.Manner Sharing.Note Sharing.String Sharing.With
	symmem.SplitLastDim Stats.String Stream.String symmem.Sub Tensor.Abs Tensor.Add Tensor.AllClose
	Tensor.ArgMax Tensor.ArgMin Tensor.As Tensor.Backend Tensor.Bools Tensor.Bytes Tensor.Complex128s
	Tensor.Convert Tensor.DType Tensor.Div Tensor.Dot Tensor.Eq Tensor.Equal Tensor.Exp Tensor.Extremes
	Tensor.Float32s Tensor.Float64s Tensor.Ge Tensor.Gt Tensor.HTML Tensor.Ints Tensor.Item Tensor.Le
	Tensor.Log Tensor.Lt Tensor.Max Tensor.MaxDiff Tensor.Maximum Tensor.Mean Tensor.Memory Tensor.Min
	Tensor.Minimum Tensor.Mod Tensor.Mul Tensor.Ne Tensor.Neg Tensor.Norm Tensor.Numel Tensor.Pow Tensor.Ptr
	Tensor.Shape Tensor.SimpleRender Tensor.Slice Tensor.Sqrt Tensor.Stats Tensor.String Tensor.Sub
	Tensor.Sum Tensor.Symmetric Tensor.Tile Tensor.Transpose Tensor.Uint8s Tensor.View Tensor.Where
	Tile.Shape Tile.String Timeline.HTML Timeline.String Timeline.Summary symmem.Timeout TokenRouting.String
	TokenSwitch.Config TokenSwitch.Group TokenSwitch.String TokenSwitchConfig.String symmem.TransposedB
	Turns.Pairs Turns.Ratio Turns.Real Turns.String symmem.Via symmem.Weak symmem.Where Work.Done Work.String
	Work.Time symmem.World symmem.WorldSize display.Any display.Auto display.Button display.Checkbox
	Data.String display.Dropdown display.File display.HTML display.Image display.JPEG display.JSON
	display.JavaScript display.Latex display.MIME display.MakeData display.MakeData3 display.Markdown
	display.Math display.Named display.PDF display.PNG display.Render display.SVG display.Slider display.Text
	Widget.Bool Widget.Float64 Widget.Int Widget.Render Widget.String Widget.Text Widget.Value Chart.PNG
	Chart.SVG Chart.SimpleRender Chart.String chart.Heat chart.Lines chart.Over chart.Page show.Held
	Printer.Sprint show.Sprint show.Typed expect.New Difference.Error Tensors.Close Tensors.Equal Tensors.Handle
	Tensors.Pad Tensors.Pads Tensors.Peers Tensors.Pointers Tensors.Table Tensors.Tensor`

// TestDroppedKinds checks that each function and method for cells that has results is known to have
// another effect, or to have none. A new one belongs to effects in interp/help/dropped.go, or to only.
func TestDroppedKinds(t *testing.T) {
	in := open(t, Options{})
	var found []string
	for _, path := range []string{check.SymmemPath, check.SymmemPath + "/expect", check.DisplayPath, "github.com/symmrepl/symmrepl/chart", "github.com/symmrepl/symmrepl/show"} {
		pkg, err := in.checker.Packages().Import(path)
		if err != nil {
			t.Fatal(err)
		}
		add := func(owner string, obj types.Object) {
			if f, ok := obj.(*types.Func); ok && f.Exported() && help.Dropped(f) {
				found = append(found, owner+"."+f.Name())
			}
		}
		for _, name := range pkg.Scope().Names() {
			obj := pkg.Scope().Lookup(name)
			if add(pkg.Name(), obj); !obj.Exported() || types.IsInterface(obj.Type()) {
				continue
			}
			if _, ok := obj.(*types.TypeName); ok {
				for m := range types.NewMethodSet(types.NewPointer(obj.Type())).Methods() {
					add(name, m.Obj())
				}
			}
		}
	}
	known := strings.Fields(only)
	for _, name := range found {
		if !slices.Contains(known, name) {
			t.Errorf("%s is not known: has it an effect besides its result?", name)
		}
	}
	for _, name := range known {
		if !slices.Contains(found, name) {
			t.Errorf("%s is no function that has results and no other effect", name)
		}
	}
}
