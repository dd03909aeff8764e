//go:build ignore

// Wrong answers to the exercises of 13-hierarchical. The README says how they are written.

// %% [wrong] What crosses
// says: TODO
func crosses(way string, ranks, hosts, bytes int) int {
	if way == "flat" {
		return (ranks - ranks/hosts) * bytes
	}
	return (hosts - 1) * bytes
}

// %% [wrong] What crosses
// says: TODO
func crosses(way string, ranks, hosts, bytes int) int {
	p := ranks / hosts
	if way == "flat" {
		return (ranks - 1) * bytes
	}
	return (hosts - 1) * bytes / p
}
