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

// %% [wrong] Predict: the time of a layer
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: the time of a layer
// says: 255 is the time of the staircase
predict := 255.0

// %% [wrong] Predict: the time of a layer
// says: if the sum did not wait for the shared expert
predict := 195.0

// %% [wrong] Predict: the time of a layer
// says: the sum comes after both
predict := 210.0

// %% [wrong] Predict: the time of a layer
// says: the longer one counts
predict := 155.0
