//go:build ignore

// Wrong answers to the exercises of 13-hierarchical. The README says how they are written.

// %% [wrong] What crosses
// says: only a slice of the vector crosses from each
func crosses(way string, ranks, hosts, bytes int) int {
	if way == "flat" {
		return (ranks - ranks/hosts) * bytes
	}
	return (hosts - 1) * bytes
}

// %% [wrong] What crosses
// says: nothing crosses to the ranks of the rank's own host
func crosses(way string, ranks, hosts, bytes int) int {
	p := ranks / hosts
	if way == "flat" {
		return (ranks - 1) * bytes
	}
	return (hosts - 1) * bytes / p
}

// %% [wrong] What crosses
// says: flat, a rank sends its vector to every rank of the other hosts
func crosses(way string, ranks, hosts, bytes int) int {
	p := ranks / hosts
	if way == "flat" {
		return (hosts - 1) * bytes
	}
	return (hosts - 1) * bytes / p
}

// %% [wrong] What crosses
// says: the rank's own host needs no copy over the network
func crosses(way string, ranks, hosts, bytes int) int {
	p := ranks / hosts
	if way == "flat" {
		return (ranks - p) * bytes
	}
	return hosts * bytes / p
}

// %% [wrong] What crosses
// says: count what one rank sends, not all 4 ranks of a host
func crosses(way string, ranks, hosts, bytes int) int {
	p := ranks / hosts
	if way == "flat" {
		return p * (ranks - p) * bytes
	}
	return (hosts - 1) * bytes / p
}

// %% [wrong] Predict: two hosts of two
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: two hosts of two
// says: 10 is the sum of all
predict := 10.0

// %% [wrong] Predict: two hosts of two
// says: 3 is the vector of rank 2 alone
predict := 3.0

// %% [wrong] Predict: two hosts of two
// says: ranks 0 and 2 are a rail
predict := 4.0

// %% [wrong] Predict: two hosts of two
// says: add up what the ranks of its host have
predict := 5.0 // the numbers without the 1
