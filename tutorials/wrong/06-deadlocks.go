//go:build ignore

// Wrong answers to the exercises of 06-deadlocks. The README says how they are written.

// %% [wrong] Fix the exchange
// says: exchange(1) hangs: no rank may wait before it has put
func exchange(rounds int) {
	for range rounds {
		h.WaitSignal(right, 0, limit)
		h.WaitSignal(left, 1, limit)
		h.PutSignal(left, 0, limit)
		h.PutSignal(right, 1, limit)
	}
	symm.Synchronize()
}

// %% [wrong] Fix the exchange
// says: puts and waits must come in pairs
func exchange(rounds int) {
	for range rounds {
		h.PutSignal(left, 0, limit)
		h.PutSignal(right, 1, limit)
	}
	symm.Synchronize()
}

// %% [wrong] Fix the exchange
// says: the exchange ends although a neighbour is still missing
func exchange(rounds int) {}

// %% [wrong] Fix the exchange
// says: the exchange ends although a neighbour is still missing
func exchange(rounds int) {
	h.PutSignal(left, 0, limit)
	h.PutSignal(right, 1, limit)
	h.WaitSignal(right, 0, limit)
	h.WaitSignal(left, 1, limit)
	symm.Synchronize()
}

// %% [wrong] Fix the exchange
// says: but not with two, whose left and right are the same
func exchange(rounds int) {
	for range rounds {
		h.PutSignal(left, 0, limit)
		h.PutSignal(right, 0, limit)
		h.WaitSignal(left, 0, limit)
		h.WaitSignal(right, 0, limit)
	}
	symm.Synchronize()
}

// %% [wrong] Fix the exchange
// says: exchange(1) hangs: no rank may wait before it has put
@@
-		h.WaitSignal(right, toLeft, limit)
-		h.WaitSignal(left, toRight, limit)
+		h.WaitSignal(right, toRight, limit)
+		h.WaitSignal(left, toLeft, limit)

// %% [wrong] Predict: how many cycles?
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: how many cycles?
// says: 1 would be right if every rank waited for the next one
predict := 1.0

// %% [wrong] Predict: how many cycles?
// says: 3 is the number of ranks in a cycle
predict := 3.0

// %% [wrong] Predict: how many cycles?
// says: 6 is the number of arrows
predict := 6.0

// %% [wrong] Predict: how many cycles?
// says: follow the arrows from rank 0
predict := 4.0

// %% [wrong] Write: uneven work
// says: all ranks must call it equally often
func rounds(items int) {
	for range items {
		work()
		hRounds.Barrier(1, limit)
	}
}

// %% [wrong] Write: uneven work
// says: a rank may begin an item before another has ended the one before
func rounds(items int) { // one barrier at the end
	for range items {
		work()
	}
	hRounds.Barrier(1, limit)
}

// %% [wrong] Write: uneven work
// says: a rank may begin an item before another has ended the one before
func rounds(items int) { // no barrier
	for range items {
		work()
	}
}

// %% [wrong] Write: uneven work
// says: more or less often than it has items
func rounds(items int) { // everybody works in each round
	for range most(items) {
		work()
		hRounds.Barrier(1, limit)
	}
}

// %% [wrong] Write: uneven work
// says: more or less often than it has items
func rounds(items int) { // as many rounds as the rank with the fewest items has
	for range symm.AllReduce(symm.Empty(symm.I32, 1).Fill(items), "min").Ints()[0] {
		work()
		hRounds.Barrier(1, limit)
	}
}

// %% [wrong] Write: uneven work
// says: all ranks must call it equally often
func rounds(items int) { // the barrier only with work
	for i := range most(items) {
		if i < items {
			work()
			hRounds.Barrier(1, limit)
		}
	}
}

// %% [wrong] Write: uneven work
// says: more or less often than it has items
func rounds(items int) {}

// %% [wrong] Write: uneven work
// says: all ranks must call it equally often
func rounds(items int) {
	for range items {
		work()
		hRounds.Barrier(1, limit)
	}
	for range most(items) { // not all ranks come here
		hRounds.Barrier(1, limit)
	}
}

// %% [wrong] Write: uneven work
// says: a rank has called work more or less often than it has items
@@
-func rounds(items int) {
-	for i := range most(items) {
+func rounds(items int) { // as many rounds as the first turns of the check need
+	for i := range 3 {

// %% [wrong] Write: uneven work
// says on the cpu device: a rank may begin an item before another has ended the one before
func rounds(items int) { // longer than any delay of the check
	for range items {
		work()
		time.Sleep(100 * time.Millisecond)
	}
}

// %% [wrong] Fix the exchange
// says: ranks that are no neighbours
func exchange(rounds int) {
	for range rounds {
		h.Barrier(0, limit)
	}
	symm.Synchronize()
}

// %% [wrong] Fix the exchange
// says: ranks that are no neighbours
func exchange(rounds int) {
	for range rounds {
		symm.Meet()
	}
}

// %% [wrong] Fix the exchange
// says on the cpu device: a neighbour may still be missing
func exchange(rounds int) { // longer than any delay of the check
	for range rounds {
		time.Sleep(150 * time.Millisecond)
	}
}
