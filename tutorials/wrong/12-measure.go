//go:build ignore

// Wrong answers to the exercises of 12-measure. The README says how they are written.

// %% [wrong] Bus bandwidth
// says: 3/4 is 0 in Go
func bus(op string, ranks, bytes int, us float64) float64 {
	factor := 1
	switch op {
	case "all-reduce":
		factor = 2 * (ranks - 1) / ranks
	case "all-gather", "reduce-scatter", "all-to-all":
		factor = (ranks - 1) / ranks
	}
	return float64(factor*bytes) / us / 1e3
}

// %% [wrong] Bus bandwidth
// says: a GB is 1e9 bytes, not 1<<30
func bus(op string, ranks, bytes int, us float64) float64 {
	p, factor := float64(ranks), 1.0
	switch op {
	case "all-reduce":
		factor = 2 * (p - 1) / p
	case "all-gather", "reduce-scatter", "all-to-all":
		factor = (p - 1) / p
	}
	return factor * float64(bytes) / (1 << 30) / (us / 1e6)
}

// %% [wrong] Bus bandwidth
// says: that is the algorithm bandwidth, without the factor of all-gather
func bus(op string, ranks, bytes int, us float64) float64 {
	p, factor := float64(ranks), 1.0
	switch op {
	case "all-reduce":
		factor = 2 * (p - 1) / p
	case "gather":
		factor = (p - 1) / p
	}
	return factor * float64(bytes) / us / 1e3
}

// %% [wrong] Bus bandwidth
// says: look at the units
func bus(op string, ranks, bytes int, us float64) float64 {
	p, factor := float64(ranks), 1.0
	switch op {
	case "all-reduce":
		factor = 2 * (p - 1) / p
	case "all-gather", "reduce-scatter", "all-to-all":
		factor = (p - 1) / p
	}
	return factor * float64(bytes) / us
}

// %% [wrong] Bus bandwidth
// says: has the factor of each operation
func bus(op string, ranks, bytes int, us float64) float64 {
	p, factor := float64(ranks), 1.0
	switch op {
	case "all-reduce":
		factor = (p - 1) / p
	case "all-gather", "reduce-scatter", "all-to-all":
		factor = (p - 1) / p
	}
	return factor * float64(bytes) / us / 1e3
}

// %% [wrong] One figure
// says: run 0 was the warm-up, which must not count
func summary(us [][]float64) float64 {
	slow := 0.0
	for _, all := range us {
		runs := slices.Clone(all)
		slices.Sort(runs)
		slow = max(slow, runs[len(runs)/2])
	}
	return slow
}

// %% [wrong] One figure
// says: that is the median of all runs together
func summary(us [][]float64) float64 {
	var runs []float64
	for _, all := range us {
		runs = append(runs, all[1:]...)
	}
	slices.Sort(runs)
	return runs[len(runs)/2]
}

// %% [wrong] One figure
// says: the slowest run of all was disturbed
func summary(us [][]float64) float64 {
	slow := 0.0
	for _, all := range us {
		slow = max(slow, slices.Max(all[1:]))
	}
	return slow
}

// %% [wrong] One figure
// says: the runs are not sorted
func summary(us [][]float64) float64 {
	slow := 0.0
	for _, all := range us {
		runs := slices.Clone(all[1:])
		slow = max(slow, runs[len(runs)/2])
	}
	return slow
}

// %% [wrong] One figure
// says: rank 1 is the slowest
func summary(us [][]float64) float64 {
	slow := math.Inf(1)
	for _, all := range us {
		runs := slices.Clone(all[1:])
		slices.Sort(runs)
		slow = min(slow, runs[len(runs)/2])
	}
	return slow
}

// %% [wrong] One figure
// says: the best run shows what the hardware can do
func summary(us [][]float64) float64 {
	slow := 0.0
	for _, all := range us {
		runs := slices.Clone(all[1:])
		slices.Sort(runs)
		slow = max(slow, runs[0])
	}
	return slow
}

// %% [wrong] Bus bandwidth
// says: bus("all-gather", 8, 67108864, 200) is 251.7, not 294 GB/s
func bus(op string, ranks, bytes int, us float64) float64 {
	p, factor := float64(ranks), 1.0
	switch op {
	case "all-reduce":
		factor = 2 * (p - 1) / p
	case "all-to-all":
		factor = (p - 1) / p
	case "all-gather", "reduce-scatter":
		factor = 0.75
	}
	return factor * float64(bytes) / us / 1e3
}
