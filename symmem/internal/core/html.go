package symmem

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/internal/forms"
	"github.com/symmrepl/symmrepl/internal/heat"
	"github.com/symmrepl/symmrepl/internal/tabs"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

const (
	tabled    = 6       // rows and columns that a table of a large tensor shows at each end
	sliced    = 4       // slices of a tensor of more dimensions that have a table, and the last one has
	readWhole = 4096    // elements of a tensor that is read whole; of a larger one the device calculates the shown part
	surveyed  = 1 << 28 // most elements of a tensor of which the device calculates it: the cpu device takes about a second

	mapRows, mapColumns = 48, 96 // squares of a heat map
	mapFrom             = 16     // elements from which there is a heat map
)

// HTML returns the tensor as a table in which each line is a row of the last dimension, with the kind
// of its memory, its least and greatest element, their mean, the number of NaN, and a heat map. Of a
// large tensor the table shows both ends, and of one of more than two dimensions with many rows the
// first slices of the last two have a tab each, and the last one has. Elements are rounded: those of
// bf16 to 3 digits, of f16 and f32 to 4, of f64 to 5. Of more than 2²⁸ elements, and under the sanitizer
// of more than 4096, there is only the table. It waits for the current stream. If the tensor cannot be
// read, it returns the reason.
func (t *Tensor) HTML() string {
	text, _ := t.forms()
	return text
}

// SimpleRender returns the result of HTML, and the elements in it, from which front ends show the
// tensors of several ranks together.
func (t *Tensor) SimpleRender() map[string]any {
	text, shown := t.forms()
	data := map[string]any{"text/html": text}
	if shown != nil {
		data[forms.TensorType] = forms.Encode(shown)
	}
	return data
}

func (t *Tensor) forms() (text string, shown *forms.Tensor) {
	if t == nil || t.st == nil {
		return "nil tensor", nil
	}
	if !t.st.isFreed() && t.n > 0 {
		v := drawing{t: t}
		if Maybe(v.draw) == nil {
			return v.html.String(), &v.shown
		}
	}
	return html.EscapeString(t.String()), nil
}

// drawing draws a tensor with at least one element.
type drawing struct {
	t     *Tensor
	data  []byte // the elements of a small tensor
	html  strings.Builder
	shown forms.Tensor
}

func (v *drawing) draw() {
	t := v.t
	if t.n <= readWhole {
		v.data = t.readToShow()
	} else {
		t.View(t.n).Slice(0, 1).readToShow() // keeps an error of earlier work, which Stats would lose
	}
	v.shown.Kind = t.kind()
	fmt.Fprintf(&v.html, `<div class="symm-tensor"><b>%s</b> on %s`, html.EscapeString(t.kind()), html.EscapeString(t.place()))
	if stats, ok := v.stats(); ok {
		v.shown.NaN = stats.NaN
		if stats.N > stats.NaN {
			v.shown.Min, v.shown.Max, v.shown.Mean = short(stats.Min), short(stats.Max), short(stats.Mean)
			fmt.Fprintf(&v.html, "<br>min %s, max %s, mean %s", v.shown.Min, v.shown.Max, v.shown.Mean)
		} else {
			v.html.WriteString("<br>no numbers")
		}
		if stats.NaN > 0 {
			fmt.Fprintf(&v.html, ", <b>%d NaN</b>", stats.NaN)
		} else if t.dtype.element().IsFloat() {
			v.html.WriteString(", no NaN")
		}
	}
	columns := 1
	if len(t.shape) > 0 {
		columns = t.shape[len(t.shape)-1]
	}
	rows := t.n / columns
	if len(t.shape) <= 2 || rows <= 2*tabled+1 {
		v.html.WriteString(v.part("", 0, rows, columns))
	} else {
		v.slices(t.shape[len(t.shape)-2], columns)
	}
	v.html.WriteString("</div>")
}

// slices draws tabs for slices of so many rows and columns.
func (v *drawing) slices(rows, columns int) {
	n := v.t.n / rows / columns
	var list []tabs.Tab
	add := func(i int) {
		name := "[" + strings.TrimSuffix(v.t.indexOf(i*rows), ", 0") + "]"
		list = append(list, tabs.Tab{Label: name, HTML: v.part(name, i*rows, rows, columns)})
	}
	for i := range min(n, sliced) {
		add(i)
	}
	if n > sliced {
		add(n - 1)
	}
	v.html.WriteString(tabs.HTML(list))
	if more := n - len(list); more > 0 {
		fmt.Fprintf(&v.html, "<small>%d more slices between the last two: Slice and View select them</small>", more)
	}
}

// part returns the table of rows from the first one on, and their heat map, and adds them to the
// parts that are shown. The table has the class of pandas' tables, because euporie puts no space
// between the cells of other tables.
func (v *drawing) part(name string, first, rows, columns int) string {
	var b strings.Builder
	part := forms.Part{Name: name}
	b.WriteString(`<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start;margin-top:4px"><div style="max-width:100%;overflow-x:auto"><table class="dataframe">` + "\n<tr><th></th>")
	across(columns, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			part.Columns = append(part.Columns, strconv.Itoa(i))
			fmt.Fprintf(&b, "<th>%d</th>", i)
		}
	}, func() {
		part.Columns = append(part.Columns, "…")
		b.WriteString("<th>…</th>")
	})
	b.WriteString("</tr>\n")
	across(rows, func(lo, hi int) {
		for row := first + lo; row < first+hi; row++ {
			label := v.t.indexOf(row)
			if name != "" {
				label = strconv.Itoa(row - first)
			}
			fmt.Fprintf(&b, "<tr><th>%s</th>", label)
			var cells []string
			across(columns, func(lo, hi int) {
				data := v.elements(row*columns+lo, row*columns+hi)
				for i := range hi - lo {
					cells = append(cells, v.t.dtype.text(data, i))
					fmt.Fprintf(&b, "<td>%s</td>", v.t.dtype.brief(data, i))
				}
			}, func() {
				cells = append(cells, "…")
				b.WriteString("<td>…</td>")
			})
			b.WriteString("</tr>\n")
			part.Rows, part.Cells = append(part.Rows, label), append(part.Cells, cells)
		}
	}, func() {
		part.Rows, part.Cells = append(part.Rows, "…"), append(part.Cells, nil)
		b.WriteString("<tr><th>…</th></tr>\n")
	})
	b.WriteString("</table></div>" + v.heat(first, rows, columns) + "</div>")
	v.shown.Parts = append(v.shown.Parts, part)
	return b.String()
}

// elements returns the bytes of elements.
func (v *drawing) elements(lo, hi int) []byte {
	if v.data == nil {
		return v.t.View(v.t.n).Slice(lo, hi).readToShow()
	}
	size := v.t.dtype.Size()
	return v.data[lo*size : hi*size]
}

// numbers returns the elements of a tensor that was read, as real numbers.
func (v *drawing) numbers(lo, hi int) []float64 {
	out := make([]float64, hi-lo)
	element.Floats(v.t.dtype.element(), out, v.elements(lo, hi))
	return out
}

// ordered reports whether the elements have an order, and so a least and a greatest one.
func (v *drawing) ordered() bool { return !v.t.dtype.element().IsComplex() }

// surveys reports whether the device looks at all elements.
func (v *drawing) surveys() bool {
	sanitized, _ := v.t.rt.Sanitized()
	return v.t.n <= surveyed && v.t.dtype.element().Computes() && !sanitized
}

// stats returns the statistics; ok is false if they are not known.
func (v *drawing) stats() (s Stats, ok bool) {
	if !v.ordered() {
		return s, false
	}
	if v.data == nil {
		return s, v.surveys() && Maybe(func() { s = v.t.Stats() }) == nil
	}
	s = Stats{N: v.t.n, Min: math.Inf(1), Max: math.Inf(-1)}
	for _, x := range v.numbers(0, v.t.n) {
		if math.IsNaN(x) {
			s.NaN++
			continue
		}
		s.Min, s.Max, s.Mean = min(s.Min, x), max(s.Max, x), s.Mean+x
	}
	s.Mean /= float64(s.N - s.NaN)
	return s, true
}

// heat returns a heat map of rows, "" if there are few elements, or if they are equal or not known.
func (v *drawing) heat(first, rows, columns int) string {
	n := rows * columns
	if n < mapFrom || !v.ordered() {
		return ""
	}
	var values []float64
	var beside int
	if v.data != nil {
		values, beside = greatest(v.numbers(first*columns, first*columns+n), columns)
	} else if !v.surveys() || Maybe(func() {
		t := v.t.View(v.t.n/columns, columns).Slice(first, first+rows)
		if rows == 1 { // the elements of one dimension need no transposition
			_, values = t.Extremes(mapColumns)
			beside = len(values)
			return
		}
		_, values = t.Extremes(mapRows, mapColumns)
		wide := (columns + mapColumns - 1) / mapColumns
		beside = (columns + wide - 1) / wide
	}) != nil {
		return ""
	}
	if lo, hi, ok := heat.Range(values); !ok || lo == hi {
		return ""
	}
	return heat.Image(values, beside, rows, columns)
}

// greatest returns the greatest finite number of each of at most mapRows times mapColumns rectangles
// of a matrix, NaN if there is none, and how many of them are beside each other.
func greatest(matrix []float64, columns int) (values []float64, beside int) {
	rows := len(matrix) / columns
	high, wide := (rows+mapRows-1)/mapRows, (columns+mapColumns-1)/mapColumns
	for row := 0; row < rows; row += high {
		for column := 0; column < columns; column += wide {
			most := math.NaN()
			for y := row; y < min(row+high, rows); y++ {
				for _, x := range matrix[y*columns+column : y*columns+min(column+wide, columns)] {
					if !math.IsInf(x, 0) && (math.IsNaN(most) || x > most) {
						most = x
					}
				}
			}
			values = append(values, most)
		}
	}
	return values, (columns + wide - 1) / wide
}

// across calls write for all of n items, or for the first and the last, with a gap between them.
func across(n int, write func(lo, hi int), gap func()) {
	if n <= 2*tabled+1 {
		write(0, n)
		return
	}
	write(0, tabled)
	gap()
	write(n-tabled, n)
}

// indexOf returns the index of a row in all dimensions except the last: "1, 3".
func (t *Tensor) indexOf(row int) string {
	var text string
	for i := len(t.shape) - 2; i >= 0; i-- {
		text = fmt.Sprintf(", %d%s", row%t.shape[i], text)
		row /= t.shape[i]
	}
	return strings.TrimPrefix(text, ", ")
}

// digits are the significant digits of elements in tables: about as many as a type has, and of wide
// types as many as fit.
var digits = map[DType]int{F8E5M2: 2, F8E4M3: 2, BF16: 3, F16: 4, F32: 4, F64: 5}

// brief returns element i of data as a text for tables. It does not round whole digits of numbers
// below a million.
func (d DType) brief(data []byte, i int) string {
	e := d.element()
	if e.IsComplex() {
		part := DType(e.Part())
		return complexText(part.brief(data, 2*i), part.brief(data, 2*i+1))
	}
	n, ok := digits[d]
	if !ok {
		return d.text(data, i)
	}
	x := e.Float(e.BitsAt(data, i))
	if a := math.Abs(x); a >= math.Pow10(n-1) && a < 1e6 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', n, 64)
}

// short returns a statistic.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
