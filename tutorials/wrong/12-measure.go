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
@@
-	return factor * float64(bytes) / us / 1e3
+	return factor * float64(bytes) / (1 << 30) / (us / 1e6)

// %% [wrong] Bus bandwidth
// says: that is the algorithm bandwidth, without the factor of all-gather
@@
-	case "all-gather", "reduce-scatter", "all-to-all":
+	case "gather":

// %% [wrong] Bus bandwidth
// says: look at the units
@@
-	return factor * float64(bytes) / us / 1e3
+	return factor * float64(bytes) / us

// %% [wrong] Bus bandwidth
// says: has the factor of each operation
@@
-		factor = 2 * (p - 1) / p
+		factor = (p - 1) / p

// %% [wrong] One figure
// says: run 0 was the warm-up, which must not count
@@
-		runs := slices.Clone(all[1:])
+		runs := slices.Clone(all)

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
@@
-		runs := slices.Clone(all[1:])
-		slices.Sort(runs)
-		slow = max(slow, runs[len(runs)/2])
+		slow = max(slow, slices.Max(all[1:]))

// %% [wrong] One figure
// says: the runs are not sorted
@@
-		slices.Sort(runs)

// %% [wrong] One figure
// says: rank 1 is the slowest
@@
-	slow := 0.0
+	slow := math.Inf(1)
@@
-		slow = max(slow, runs[len(runs)/2])
+		slow = min(slow, runs[len(runs)/2])

// %% [wrong] One figure
// says: the best run shows what the hardware can do
@@
-		slow = max(slow, runs[len(runs)/2])
+		slow = max(slow, runs[0])

// %% [wrong] Bus bandwidth
// says: bus("all-gather", 8, 67108864, 200) is 251.7, not 294 GB/s
@@
-	case "all-gather", "reduce-scatter", "all-to-all":
+	case "all-to-all":
@@
 		factor = (p - 1) / p
+	case "all-gather", "reduce-scatter":
+		factor = 0.75
