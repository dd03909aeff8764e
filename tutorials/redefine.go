//go:build ignore

// Redefinition: a name gets a new meaning, existing values stay.
//
//	symmrepl run -n 4 tutorials/redefine.go

// %% A function and its caller.
func step(x int) int { return x + 1 }
func twice(x int) int { return step(step(x)) }
twice(symm.Rank())

// %% With the same signature, the new function replaces the old one, for its callers too.
func step(x int) int { return 10 * x }
twice(symm.Rank())

// %% With a different signature, it is a separate function, and callers keep the old one.
func step(x float64) float64 { return x / 2 }

// %%
step(5)

// %%
twice(1)

// %% A redeclared variable of the same type is the same variable.
count := 1
next := func() int { count++; return count }
next()

// %%
count := 40
next()

// %% With a different type, it is a new variable: closures keep the old one.
count := "many"
fmt.Println(next(), count)

// %% A type with a method.
// A point is somewhere.
type point struct{ X, Y int }

func (p point) Sum() int { return p.X + p.Y }

p := point{1, 2}
p

// %%
p.Sum()

// %% Redefine the method: existing values have the new one.
func (p point) Sum() int { return 100 * p.X }

// %%
p.Sum()

// %% Redefine the type: existing values keep the old type.
type point struct {
	X, Y, Z int
	Tags    []string
}
q := point{X: 1, Tags: []string{"new"}}
fmt.Println(p.X, q.Z)
q

// %%
p

// %% Names of packages and predeclared names can be redefined too.
len := 3
time := len + 1
time
