package tensorfile

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// A file may have tensors whose elements no Tensor of symmem can have. The file is valid, and its other
// tensors can be loaded: the error concerns the one tensor, when it is loaded.

// foreign describes elements that have no type here, and says what to do.
type foreign struct{ what, hint string }

// Usable returns an error if the type of the elements is not known: they are no numbers, or numbers of
// a type that tensors do not have, or As has to name the type.
func (t *Tensor) Usable() error {
	if t.Type != 0 {
		return nil
	}
	f := cmp.Or(t.foreign, foreign{"tensors have no elements of type " + t.Said, sized(t.Size)})
	return t.Refuse(f.hint, "%s", f.what)
}

// sized is the advice for elements of n bytes.
func sized(n int) string {
	var list []string
	for e := element.F16; e.Valid(); e++ {
		if e.Size() == n {
			list = append(list, "symm."+goName(e))
		}
	}
	if list == nil {
		return "in numpy save x.view(np.uint8), their bytes"
	}
	return "give the type that these bytes are to have: " + strings.Join(list, ", ")
}

// goName returns the name that a type has in Go.
func goName(e element.Type) string {
	if e == element.Bool {
		return "Bool"
	}
	return strings.ToUpper(e.String())
}

// foreignArray describes an array's elements by numpy's name of their type, such as <U5: the byte
// order, a letter, a size, and a unit of time. size is 0 if no other type can stand for theirs. ok is
// false if numpy has no such type.
func foreignArray(said string) (f foreign, size int, ok bool) {
	letter := said[1]
	number, _, _ := strings.Cut(said[2:], "[")
	n, err := strconv.ParseUint(number, 10, 31)
	if letter == 'O' {
		return foreign{"its elements are Python objects (dtype " + said + "), which Load does not unpickle",
			"tensors hold numbers: if the objects are numbers, save x.astype(np.float32) in numpy"}, 0, true
	}
	if err != nil {
		return f, 0, false
	}
	switch size = int(n); {
	case letter == 'U':
		return foreign{"its elements are texts (dtype " + said + ")",
			"tensors hold numbers: save x.astype(np.float32) in numpy if the texts are numerals, " +
				"or np.unique(x, return_inverse=True)[1], a number for each text"}, 0, true
	case letter == 'S':
		return foreign{"its elements are byte strings (dtype " + said + ")",
			"tensors hold numbers: save x.astype(np.float32) in numpy if the strings are numerals, or x.view(np.uint8), their bytes"}, 0, true
	case size == 0 || !strings.ContainsRune("iufcVMm", rune(letter)):
		return f, 0, false
	case said[0] == '>' && size > 1:
		return foreign{"its elements are big-endian (dtype " + said + ")",
			"save x.astype('<" + said[1:] + "') in numpy"}, 0, true
	case letter == 'M' || letter == 'm':
		what := "dates"
		if letter == 'm' {
			what = "durations"
		}
		return foreign{"its elements are " + what + " (dtype " + said + ")",
			"give symm.I64 to load the whole numbers by which numpy stores them"}, size, true
	case letter == 'V':
		return foreign{fmt.Sprintf("the file says of its elements only that they have %s (dtype %s)", count.Of(n, "byte"), said), sized(size)}, size, true
	case letter == 'f':
		f.hint = "save x.astype(np.float64) in numpy"
	case letter == 'c':
		f.hint = "save x.astype(np.complex128) in numpy"
	default:
		return f, 0, false
	}
	f.what = "tensors have no elements of dtype " + said
	return f, size, true
}

// structs describes an array whose elements have fields, by numpy's list of them.
func structs(fields string) foreign {
	return foreign{"its elements are made of fields, dtype " + shorten(fields),
		`tensors hold numbers: save the fields one by one in numpy, as np.savez("x.npz", **{f: x[f] for f in x.dtype.names})`}
}
