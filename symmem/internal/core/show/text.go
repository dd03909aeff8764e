package show

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// previewed is the number of elements that Preview shows at each end.
const previewed = 4

// Preview returns the first and last elements, for two dimensions as a table, which begins on a new line.
func Preview(t Tensor) string {
	if len(t.Shape) == 2 && t.Shape[0] > 1 && t.N > 0 {
		return t.rows()
	}
	var parts []string
	ends(t.N, func(lo, hi int) { parts = append(parts, t.texts(lo, hi)...) }, func() { parts = append(parts, "…") })
	return "[" + strings.Join(parts, " ") + "]"
}

// rows returns the rows of a tensor of two dimensions, each on a line, with columns aligned to the
// right. "…" stands for the middle of many rows or columns.
func (t Tensor) rows() string {
	columns := t.Shape[1]
	var table [][]string
	ends(t.Shape[0], func(lo, hi int) {
		for row := lo; row < hi; row++ {
			var line []string
			ends(columns, func(lo, hi int) {
				line = append(line, t.texts(row*columns+lo, row*columns+hi)...)
			}, func() { line = append(line, "…") })
			table = append(table, line)
		}
	}, func() { table = append(table, []string{"…"}) })
	width := make([]int, 2*previewed+1)
	for _, line := range table {
		for i, text := range line {
			if len(line) > 1 || columns == 1 {
				width[i] = max(width[i], utf8.RuneCountInString(text))
			}
		}
	}
	var b strings.Builder
	for _, line := range table {
		b.WriteString("\n ")
		for i, text := range line {
			b.WriteString(" " + strings.Repeat(" ", max(width[i]-utf8.RuneCountInString(text), 0)) + text)
		}
	}
	return b.String()
}

// ends calls write for all of n items, or for the first and the last, with gap between them.
func ends(n int, write func(lo, hi int), gap func()) {
	if n <= 2*previewed+1 {
		write(0, n)
		return
	}
	write(0, previewed)
	gap()
	write(n-previewed, n)
}

// texts returns elements as texts.
func (t Tensor) texts(lo, hi int) []string {
	data := t.Read(lo, hi)
	out := make([]string, hi-lo)
	for i := range out {
		out[i] = Text(t.Type, data, i)
	}
	return out
}

// Text returns element i of data as text.
func Text(e element.Type, data []byte, i int) string {
	switch {
	case e == element.F64:
		return strconv.FormatFloat(e.Float(e.BitsAt(data, i)), 'g', -1, 64)
	case e.IsFloat():
		return strconv.FormatFloat(e.Float(e.BitsAt(data, i)), 'g', 6, 32)
	case e.IsComplex():
		return complexText(Text(e.Part(), data, 2*i), Text(e.Part(), data, 2*i+1))
	case e == element.Bool:
		return strconv.FormatBool(data[i] != 0)
	case e == element.U64:
		return strconv.FormatUint(e.BitsAt(data, i), 10)
	default:
		return strconv.FormatInt(e.Integer(e.BitsAt(data, i)), 10)
	}
}

// complexText returns the number with these parts as Go writes it: 1.5-2i.
func complexText(re, im string) string {
	if im[0] != '-' && im[0] != '+' {
		im = "+" + im
	}
	return re + im + "i"
}
