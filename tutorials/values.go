//go:build ignore

// How a session shows values: in Go syntax, with the names of their types.
//
//	symmrepl run -n 4 tutorials/values.go

// %%
import "errors"

type celsius float64

type reading struct {
	Rank  int
	Where string
	T     celsius
	next  *reading
}

// %%
reading{symm.Rank(), "die", 71.5, nil}

// %%
&reading{next: &reading{Rank: 1}}

// %%
[]celsius{1, 2.5}

// %%
map[string][]reading{"b": nil, "a": {{Rank: 2}}}

// %% Bytes, runes, floats, complex numbers, strings.
[]byte("go")

// %%
'x'

// %%
float32(0.1)

// %%
complex(1, -2)

// %%
"a\tb" + `"quoted"`

// %% Functions and channels are shown as their types.
func(x int) (y string, err error) { return }

// %%
make(chan []byte)

// %% Several values.
strings.Cut("key=value", "=")

// %%
func half(n int) (int, error) {
	if n%2 != 0 {
		return 0, errors.New("odd")
	}
	return n / 2, nil
}
half(symm.Rank())

// %% Values with a String method.
time.Duration(1500) * time.Microsecond

// %%
func (c celsius) String() string { return fmt.Sprintf("%.1f °C", float64(c)) }

// %%
celsius(20)

// %% Values in interfaces.
[]any{1, "two", 3.0, celsius(4), nil, errors.New("five"), []byte{6}, reading{}}

// %%
var e error
e

// %%
e = fmt.Errorf("wrapped: %w", errors.New("cause"))
e

// %% Long values are shortened.
make([]int, 100)

// %%
strings.Repeat("long ", 300)

// %% Symmetric memory.
symm.Empty(symm.BF16, 2, 8).Arange()

// %%
symm.Grid(8, 2)
