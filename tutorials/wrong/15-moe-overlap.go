//go:build ignore

// Wrong answers to the exercises of 15-moe-overlap. The README says how they are written.

// %% [wrong] Between sending and waiting
// says: TODO
func early() {
	multiply()
	send()
	complete()
	rest()
}

// %% [wrong] Between sending and waiting
// says: TODO
func early() {
	send()
	complete()
	rest()
	multiply()
}
