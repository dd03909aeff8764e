//go:build ignore

// Wrong answers to the exercises of 15-moe-overlap. The README says how they are written.

// %% [wrong] Between sending and waiting
// says: send first, since others wait for this rank's tokens
func early() {
	multiply()
	send()
	complete()
	rest()
}

// %% [wrong] Between sending and waiting
// says: call send, multiply, complete and rest once each, and rest at the end
func early() {
	send()
	complete()
	rest()
	multiply()
}

// %% [wrong] Between sending and waiting
// says: call it before complete
func early() {
	send()
	complete()
	multiply()
	rest()
}

// %% [wrong] Between sending and waiting
// says: call send, multiply, complete and rest once each, and rest at the end
func early() {
	send()
	complete()
	rest()
}

// %% [wrong] Between sending and waiting
// says: call send, multiply, complete and rest once each, and rest at the end
func early() {
	send()
	multiply()
	complete()
}

// %% [wrong] Between sending and waiting
// says: complete before rest, each once
func early() {
	send()
	rest()
	multiply()
	complete()
}
