//go:build ignore

// Wrong answers to the exercises of 12-measure. The README says how they are written.

// %% [wrong] Bus bandwidth
// says: TODO
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
// says: TODO
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

// %% [wrong] One figure
// says: TODO
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
// says: TODO
func summary(us [][]float64) float64 {
	var runs []float64
	for _, all := range us {
		runs = append(runs, all[1:]...)
	}
	slices.Sort(runs)
	return runs[len(runs)/2]
}

// %% [wrong] One figure
// says: TODO
func summary(us [][]float64) float64 {
	slow := 0.0
	for _, all := range us {
		slow = max(slow, slices.Max(all[1:]))
	}
	return slow
}
