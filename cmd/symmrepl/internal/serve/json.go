package serve

import "strings"

// JSON has no NaN, no infinities and no complex numbers. A value that has such numbers is written as package
// json writes it, with the words NaN, Infinity and -Infinity, which Python's json reads, and with
// complex numbers as {"__complex__": [re, im]}.

// saveJSON returns a cell that writes the value of an expression to a file.
func saveJSON(expr, path string) string {
	return strings.NewReplacer("EXPR", expr, "PATH", path).Replace(jsonCell)
}

// jsonCell writes EXPR to PATH. Parts that package json can write are left to it.
const jsonCell = `import getJSON "encoding/json"
import getOS "os"
import getReflect "reflect"
import getSort "sort"
import getText "strings"
import getMath "math"
import getFmt "fmt"
{
	number := func(f float64) string {
		switch {
		case getMath.IsNaN(f):
			return "NaN"
		case getMath.IsInf(f, 0):
			return getText.Replace(getText.TrimPrefix(getFmt.Sprint(f), "+"), "Inf", "Infinity", 1)
		}
		text, _ := getJSON.Marshal(f)
		return string(text)
	}
	var write func(v getReflect.Value, depth int) string
	var fields func(v getReflect.Value, depth int) []string
	write = func(v getReflect.Value, depth int) string {
		text, err := getJSON.Marshal(v.Interface())
		if err == nil {
			return string(text)
		}
		var parts []string
		switch k := v.Kind(); {
		case depth > 1000:
		case k == getReflect.Float32 || k == getReflect.Float64:
			return number(v.Float())
		case k == getReflect.Complex64 || k == getReflect.Complex128:
			return getFmt.Sprintf("{\"__complex__\":[%s,%s]}", number(real(v.Complex())), number(imag(v.Complex())))
		case k == getReflect.Interface || k == getReflect.Pointer:
			return write(v.Elem(), depth+1)
		case k == getReflect.Slice || k == getReflect.Array:
			for i := 0; i < v.Len(); i++ {
				parts = append(parts, write(v.Index(i), depth+1))
			}
			return "[" + getText.Join(parts, ",") + "]"
		case k == getReflect.Map:
			for all := v.MapRange(); all.Next(); { // MapIndex finds no NaN
				name, _ := getJSON.Marshal(getFmt.Sprint(all.Key().Interface()))
				parts = append(parts, string(name)+":"+write(all.Value(), depth+1))
			}
			getSort.Strings(parts)
			return "{" + getText.Join(parts, ",") + "}"
		case k == getReflect.Struct:
			return "{" + getText.Join(fields(v, depth), ",") + "}"
		}
		panic(err)
	}
	fields = func(v getReflect.Value, depth int) (parts []string) {
		for i := 0; i < v.NumField(); i++ {
			f := v.Type().Field(i)
			name, options, _ := getText.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous && name == "" && f.Type.Kind() == getReflect.Struct:
				parts = append(parts, fields(v.Field(i), depth+1)...)
				continue
			case f.PkgPath != "" || name == "-" && options == "" || getText.Contains(options, "omit") && v.Field(i).IsZero():
				continue
			case name == "":
				name = f.Name
			}
			text, _ := getJSON.Marshal(name)
			parts = append(parts, string(text)+":"+write(v.Field(i), depth+1))
		}
		return parts
	}
	if err := getOS.WriteFile(PATH+".json", []byte(write(getReflect.ValueOf([]any{EXPR}).Index(0), 0)), 0o600); err != nil {
		panic(err)
	}
}`
