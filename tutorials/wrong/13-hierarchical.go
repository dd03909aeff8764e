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
