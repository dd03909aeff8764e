package show

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

// HTML draws a tensor with at least one element. It also returns the elements that it shows.
func HTML(t Tensor) (text string, shown *forms.Tensor) {
	v := drawing{t: t}
	v.draw()
	return v.html.String(), &v.shown
}

// drawing draws a tensor.
type drawing struct {
	t     Tensor
	data  []byte // the elements of a small tensor
	html  strings.Builder
	shown forms.Tensor
}

func (v *drawing) draw() {
	t := v.t
	if t.N <= readWhole {
		v.data = t.Read(0, t.N)
	} else {
		t.Read(0, 1) // reports an error of earlier work, which Stats would lose
	}
	v.shown.Kind = t.Kind
	fmt.Fprintf(&v.html, `<div class="symm-tensor"><b>%s</b> on %s`, html.EscapeString(t.Kind), html.EscapeString(t.Place))
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
		} else if t.Type.IsFloat() {
			v.html.WriteString(", no NaN")
		}
	}
	columns := 1
	if len(t.Shape) > 0 {
		columns = t.Shape[len(t.Shape)-1]
	}
	rows := t.N / columns
	if len(t.Shape) <= 2 || rows <= 2*tabled+1 {
		v.html.WriteString(v.part("", 0, rows, columns))
	} else {
		v.slices(t.Shape[len(t.Shape)-2], columns)
	}
	v.html.WriteString("</div>")
}

// slices draws tabs for slices of so many rows and columns.
func (v *drawing) slices(rows, columns int) {
	n := v.t.N / rows / columns
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
					cells = append(cells, Text(v.t.Type, data, i))
					fmt.Fprintf(&b, "<td>%s</td>", brief(v.t.Type, data, i))
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
		return v.t.Read(lo, hi)
	}
	size := v.t.Type.Size()
	return v.data[lo*size : hi*size]
}

// numbers returns the elements of a tensor that was read, as real numbers.
func (v *drawing) numbers(lo, hi int) []float64 {
	out := make([]float64, hi-lo)
	element.Floats(v.t.Type, out, v.elements(lo, hi))
	return out
}

// ordered reports whether the elements have an order, and so a least and a greatest one.
func (v *drawing) ordered() bool { return !v.t.Type.IsComplex() }

// surveys reports whether the device looks at all elements.
func (v *drawing) surveys() bool { return v.t.N <= surveyed && v.t.Surveys }

// stats returns the statistics; ok is false if they are not known.
func (v *drawing) stats() (s Stats, ok bool) {
	if !v.ordered() {
		return s, false
	}
	if v.data == nil {
		if v.surveys() {
			return v.t.Stats()
		}
		return s, false
	}
	s = Stats{N: v.t.N, Min: math.Inf(1), Max: math.Inf(-1)}
	for _, x := range v.numbers(0, v.t.N) {
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
	} else if v.surveys() {
		parts := []int{mapRows, mapColumns}
		wide := (columns + mapColumns - 1) / mapColumns
		beside = (columns + wide - 1) / wide
		if rows == 1 { // the elements of one dimension need no transposition
			parts = parts[1:]
		}
		values = v.t.Greatest(first, rows, columns, parts...)
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
	for i := len(t.Shape) - 2; i >= 0; i-- {
		text = fmt.Sprintf(", %d%s", row%t.Shape[i], text)
		row /= t.Shape[i]
	}
	return strings.TrimPrefix(text, ", ")
}

// digits are the significant digits of elements in tables: about as many as a type has, and of wide
// types as many as fit.
var digits = map[element.Type]int{element.F8E5M2: 2, element.F8E4M3: 2, element.BF16: 3, element.F16: 4, element.F32: 4, element.F64: 5}

// brief returns element i of data as a text for tables. It does not round whole digits of numbers
// below a million.
func brief(e element.Type, data []byte, i int) string {
	if e.IsComplex() {
		return complexText(brief(e.Part(), data, 2*i), brief(e.Part(), data, 2*i+1))
	}
	n, ok := digits[e]
	if !ok {
		return Text(e, data, i)
	}
	x := e.Float(e.BitsAt(data, i))
	if a := math.Abs(x); a >= math.Pow10(n-1) && a < 1e6 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', n, 64)
}

// short returns a statistic.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
