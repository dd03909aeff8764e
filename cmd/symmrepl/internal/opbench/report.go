package opbench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Report writes the figures that runs with Options.JSON printed as tables of Markdown. A line without
// an operation begins a section: the facts of a run, or of its programs. The lines after it, one for
// each figure, are the rows of its table.
func Report(figures io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(figures)
	lines.Buffer(nil, 1<<20)
	var s section
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		fields, err := flat(json.NewDecoder(strings.NewReader(lines.Text())))
		if err != nil {
			return fmt.Errorf("line %d of the figures is not a line of bench --json: %w", n, err)
		}
		switch {
		case s.add(fields):
		case len(s.rows) > 0 || len(s.missing) > 0:
			s.write(out)
			s = section{facts: fields}
		default:
			s.facts = append(s.facts, fields...) // facts that two lines tell
		}
	}
	s.write(out)
	return lines.Err()
}

// field is a value of a line of JSON. The name of a value in an object is the object's name and its
// own, with a space between them.
type field struct{ name, value string }

// section is a table and the facts above it.
type section struct {
	facts   []field
	columns []string
	rows    [][]field
	missing []string
}

// add adds a row, or a note about a measurement that failed; false if the fields are neither.
func (s *section) add(fields []field) bool {
	at := slices.IndexFunc(fields, func(f field) bool { return f.name == "op" })
	if at < 0 {
		return false
	}
	for _, name := range []string{"not measured", "error"} {
		if i := slices.IndexFunc(fields, func(f field) bool { return f.name == name && f.value != "" }); i >= 0 {
			s.missing = append(s.missing, fields[at].value+": "+fields[i].value)
			return true
		}
	}
	fields = slices.DeleteFunc(fields, func(f field) bool { return f.value == "" || f.value == "0" })
	for _, f := range fields {
		if !slices.Contains(s.columns, f.name) {
			s.columns = append(s.columns, f.name)
		}
	}
	s.rows = append(s.rows, fields)
	return true
}

func (s *section) write(out io.Writer) {
	var facts []string
	shared := false
	for _, f := range s.facts {
		if f.name == "shared" {
			shared = true
			continue
		}
		facts = append(facts, f.name+" "+f.value)
	}
	if len(facts) > 0 {
		fmt.Fprintf(out, "%s\n\n", strings.Join(facts, ", "))
	}
	if shared {
		fmt.Fprint(out, "Ranks share a GPU: these times are not comparable with times of ranks on GPUs of their own.\n\n")
	}
	if len(s.rows) > 0 {
		fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(s.columns, " | "), strings.Repeat("---|", len(s.columns)))
		for _, row := range s.rows {
			cells := make([]string, len(s.columns))
			for _, f := range row {
				cells[slices.Index(s.columns, f.name)] = f.value
			}
			fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
		}
		fmt.Fprintln(out)
	}
	for _, m := range s.missing {
		fmt.Fprintf(out, "- not measured: %s\n", m)
	}
	if len(s.missing) > 0 {
		fmt.Fprintln(out)
	}
}

// units are the ends of names in JSON, and how a table's column says them.
var units = strings.NewReplacer("_us", " µs", "_gbps", " GB/s", "_", " ")

// cell makes a text the content of a table's cell.
var cell = strings.NewReplacer("|", `\|`, "\n", " ")

// repeated are values of a peer's object that the row has already.
var repeated = []string{"op", "by", "bytes"}

// flat returns the fields of an object, in their order.
func flat(d *json.Decoder) ([]field, error) {
	d.UseNumber()
	switch t, err := d.Token(); {
	case err != nil:
		return nil, err
	case t != json.Delim('{'):
		return nil, errors.New("it is no object")
	}
	return object(d, "")
}

// object returns the fields of an object whose brace was read.
func object(d *json.Decoder, within string) (fields []field, err error) {
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := fmt.Sprint(name)
		full := strings.TrimSpace(within + " " + units.Replace(key))
		value, err := d.Token()
		if err != nil {
			return nil, err
		}
		if within != "" && slices.Contains(repeated, key) {
			continue
		}
		switch v := value.(type) {
		case json.Delim:
			if v == '{' {
				inner := full
				if key == "peers" || key == "ways" {
					inner = within
				}
				more, err := object(d, inner)
				if err != nil {
					return nil, err
				}
				fields = append(fields, more...)
				continue
			}
			list, err := array(d)
			if err != nil {
				return nil, err
			}
			fields = append(fields, field{full, list})
		case json.Number:
			text := v.String()
			if x, err := v.Float64(); err == nil && strings.ContainsAny(text, ".eE") {
				text = figure(x)
			}
			fields = append(fields, field{full, text})
		case string:
			fields = append(fields, field{full, cell.Replace(v)})
		case bool:
			fields = append(fields, field{full, fmt.Sprint(v)})
		}
	}
	_, err = d.Token() // the closing brace
	return fields, err
}

// array returns the text of an array whose bracket was read.
func array(d *json.Decoder) (string, error) {
	var parts []string
	for d.More() {
		var v any
		if err := d.Decode(&v); err != nil {
			return "", err
		}
		parts = append(parts, cell.Replace(fmt.Sprint(v)))
	}
	_, err := d.Token()
	return strings.Join(parts, "; "), err
}
