package interp

import "testing"

// TestGonum uses gonum from cells: its types by value and by pointer, own types as its interfaces,
// functions as arguments, and drawing.
func TestGonum(t *testing.T) {
	in := open(t, Options{})
	for _, s := range []struct{ cell, value string }{
		{cell: `import ("bytes"; "gonum.org/v1/gonum/floats"; "gonum.org/v1/gonum/mat"; "gonum.org/v1/gonum/stat"; "gonum.org/v1/gonum/stat/distuv")`},
		{cell: `import ("gonum.org/v1/plot"; "gonum.org/v1/plot/plotter"; "gonum.org/v1/plot/plotutil"; "gonum.org/v1/plot/vg")`},
		{`stat.Mean([]float64{1, 2, 6}, nil)`, "3"},
		{`floats.Sum([]float64{1, 2})`, "3"},
		{`distuv.Normal{Mu: 1, Sigma: 2}.CDF(1)`, "0.5"},
		{cell: `a := mat.NewDense(2, 2, []float64{2, 1, 1, 1}); var inv, product mat.Dense`},
		{`inv.Inverse(a)`, "nil"},
		{cell: `product.Mul(a, &inv)`},
		{`mat.EqualApprox(&product, mat.NewDiagDense(2, []float64{1, 1}), 1e-12)`, "true"},
		{cell: `type eye int
func (e eye) Dims() (int, int) { return int(e), int(e) }
func (e eye) At(i, j int) float64 { if i == j { return 1 }; return 0 }
func (e eye) T() mat.Matrix { return e }`},
		{cell: `var s mat.Dense; s.Add(a, eye(2))`},
		{`s.RawMatrix().Data`, "[]float64{3, 1, 1, 2}"},
		{cell: `p := plot.New(); p.Title.Text = "Title"`},
		{`plotutil.AddLinePoints(p, "line", plotter.XYs{{X: 1, Y: 2}, {X: 3, Y: 4}})`, "nil"},
		{cell: `p.Add(plotter.NewFunction(func(x float64) float64 { return x * x }))`},
		{`func() bool { w, err := p.WriterTo(4*vg.Inch, 3*vg.Inch, "svg"); var b bytes.Buffer; w.WriteTo(&b); return err == nil && bytes.Contains(b.Bytes(), []byte(">Title<")) }()`, "true"},
		{`func() bool { w, err := p.WriterTo(4*vg.Inch, 3*vg.Inch, "png"); var b bytes.Buffer; w.WriteTo(&b); return err == nil && bytes.HasPrefix(b.Bytes(), []byte("\x89PNG")) }()`, "true"},
	} {
		if got := mustEval(t, in, s.cell); got != s.value {
			t.Errorf("%s is %s, not %s", s.cell, got, s.value)
		}
	}
}
