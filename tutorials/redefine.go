//go:build ignore

// Defining things again: what a name means changes, what was made before stays.
//
//	symmrepl run -n 4 tutorials/redefine.go

// %% A function that another one calls.
func step(x int) int { return x + 1 }
func twice(x int) int { return step(step(x)) }
twice(symm.Rank())

// %% With the same signature it takes the place of the old one, for its callers too.
func step(x int) int { return 10 * x }
twice(symm.Rank())

// %% With another signature it is a function of its own, and callers keep the old one.
func step(x float64) float64 { return x / 2 }

// %%
step(5)

// %%
twice(1)

// %% A variable of the same type is the same variable.
count := 1
next := func() int { count++; return count }
next()

// %%
count := 40
next()

// %% One of another type is another variable: closures keep the old.
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

// %% The method again: values there already have it.
func (p point) Sum() int { return 100 * p.X }

// %%
p.Sum()

// %% The type again. What was made before is still what it was.
type point struct {
	X, Y, Z int
	Tags    []string
}
q := point{X: 1, Tags: []string{"new"}}
fmt.Println(p.X, q.Z)
q

// %%
p

// %% Names of packages and of Go itself can be taken too.
len := 3
time := len + 1
time
