package help

import "strings"

// builtinDoc returns the documentation of a predeclared name.
func builtinDoc(name string) (decl, text string, ok bool) {
	line, ok := map[string]string{
		"append":  "func append(slice []T, elems ...T) []T|the slice with elements added at its end, in a larger array if they do not fit",
		"cap":     "func cap(v T) int|how long a slice or the buffer of a channel can be without a new array",
		"clear":   "func clear(t T)|removes all of a map, or sets the elements of a slice to zero",
		"close":   "func close(c chan<- T)|ends the sending; receivers get the values that are left, then zero values and false",
		"complex": "func complex(r, i float64) complex128|a complex number of its two parts",
		"copy":    "func copy(dst, src []T) int|copies the elements that fit and returns how many; src may be a string for a []byte",
		"delete":  "func delete(m map[K]V, key K)|removes an entry of a map, if there is one",
		"imag":    "func imag(c complex128) float64|the imaginary part",
		"len":     "func len(v T) int|elements of a slice, array, map or channel's buffer; bytes of a string",
		"make":    "func make(t Type, size ...int) Type|a new slice, map or channel; the sizes are length and capacity",
		"max":     "func max(x T, y ...T) T|the largest of ordered values",
		"min":     "func min(x T, y ...T) T|the smallest of ordered values",
		"new":     "func new(v) *T|a pointer to a new variable: of a type, zero; of an expression, its value",
		"panic":   "func panic(v any)|ends the functions that run, deferred ones first, until one recovers",
		"print":   "func print(args ...T)|writes to standard error; programs use fmt.Print",
		"println": "func println(args ...T)|writes to standard error; programs use fmt.Println",
		"real":    "func real(c complex128) float64|the real part",
		"recover": "func recover() any|in a deferred function: stops a panic and returns its value",
		"any":     "type any = interface{}|the interface that every type implements",
		"error":   "type error interface{ Error() string }|the type of errors; nil means that there is no error",
	}[name]
	decl, text, _ = strings.Cut(line, "|")
	return decl, text, ok
}
