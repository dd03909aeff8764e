//go:build ignore

// Go in ten minutes, for people of Python and CUDA C++: what the cells of the course use, and no more.
//
//	symmrepl run -n 4 tutorials/go-in-ten-minutes.go
//
// Run it, and read the output beside the text. Every cell runs on all ranks.

// %% Variables. := makes one and takes its type from the value, as auto does. The type never changes; = assigns.
n, half := 10, 0.5
n = n + 1
fmt.Println("n is", n, "and half is", half)

// %% A cell may end with an expression, as in a notebook of Python: its value is shown.
n * 2

// %% Numbers do not convert by themselves: n*half is an error, because n is an int and half a float64.
float64(n) * half

// %% Integers divide without their remainder, as in C++: 3/4 is 0.
fmt.Println(3/4, 3.0/4, 11%4, 1<<10)

// %% Lists are slices: []int in place of list. Append returns the longer slice.
list := []int{3, 1, 2}
list = append(list, 10)
fmt.Println(list, len(list), list[0], list[1:3])

// %% for range is the only loop; there is no while. Braces are obligatory, parentheses are not used.
sum := 0
for i, x := range list { // index and element, as enumerate gives them
	sum += i * x
}
for i := range 3 { // 0, 1, 2
	sum += i
}
for sum < 100 { // a while loop
	sum *= 2
}
sum

// %% if and else if; a variable can be made in the head.
if r := symm.Rank(); r == 0 {
	fmt.Println("the first")
} else if r == symm.WorldSize()-1 {
	fmt.Println("the last")
}

// %% switch needs no break.
switch {
case n > 100:
	fmt.Println("large")
case n > 10:
	fmt.Println("middling")
default:
	fmt.Println("small")
}

// %% Functions have typed parameters and results. Entering one again replaces it.
func left(rank, size int) int { return (rank + size - 1) % size }

func divide(a, b int) (quotient, rest int) { return a / b, a % b }

q, rest := divide(17, 5)
fmt.Println(left(0, 4), q, rest)

// %% A function is a value. Func literals are lambdas with statements; they see the variables around them.
count := 0
step := func() { count++ }
step()
step()
count

// %% Maps are dicts, structs are dataclasses. nil is None; every type has a zero value, and nothing is uninitialised.
seen := map[string]int{"put": 2}
seen["get"]++

type message struct {
	From, To int
	Data     []float32
}
m := message{From: 1, To: 2}
fmt.Println(seen["put"], seen["get"], seen["wait"], m.To, m.Data == nil)

// %% Printf formats as C does: %d, %s, %.2f, and %v for anything. Sprintf returns the text.
fmt.Printf("%d bytes, %.2f of them, %v\n", 4096, half, list)

// %% Durations have a type: 300 milliseconds is not 300.
limit := 300 * time.Millisecond
limit

// %% Errors: the words of the package symm panic, and the cell ends with a message. Maybe catches it, as try does.
failed := symm.Maybe(func() { symm.NewGroup(99) })
fmt.Println("it failed:", failed != nil)

// %% A literal in backquotes spans lines and keeps \ and ": kernels are written so.
twice := symm.Compile(`
__global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}`)
x := symm.Local(symm.F32, 4).Fill(1.5)
twice.Launch(symm.Grid(1), symm.Block(32), x, 4)
x.Float32s()

// %% Methods chain, and options come last: h.Put(peer, t), symm.AllReduce(t, "sum", symm.Timeout(limit)).
t := symm.Empty(symm.I32, 2).Fill(symm.Rank())
symm.Rendezvous(t)
symm.AllReduce(t, "sum").Ints()

// %% Other packages are imported as in Python; fmt, math, time, strings and symm are there already.
import "slices"

slices.Sort(list)
list
