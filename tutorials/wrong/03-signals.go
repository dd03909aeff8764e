//go:build ignore

// Wrong answers to the exercises of 03-signals. The README says how they are written.

// %% [wrong] Pass it on
// says: all ranks wait, and nobody has signalled
@@
 func relay() {
+	hToken.WaitSignal(left, 0) // rank 0, too
@@
-		hToken.WaitSignal(left, 0)
@@
-	hToken.WaitSignal(left, 0)

// %% [wrong] Pass it on
// says: all ranks wait, and nobody has signalled
@@
-	hToken.PutSignal(right, 0)

// %% [wrong] Pass it on
// says: the wait must name the rank that signals, and its channel
@@
-	hToken.WaitSignal(left, 0)
+	hToken.WaitSignal(right, 0)

// %% [wrong] Pass it on
// says: the wait must name the rank that signals, and its channel
@@
-	hToken.WaitSignal(left, 0)
+	hToken.WaitSignal(left, 1)

// %% [wrong] Pass it on
// says: does everybody wait before it looks
func pass(n int) {
	hToken.Put(right, symm.Local(symm.I32, 1).Fill(n))
}

func relay() {
	if rank != 0 {
		pass(2 * token.Ints()[0])
	} else {
		pass(first)
	}
	hToken.PutSignal(right, 0)
	hToken.WaitSignal(left, 0)
}

// %% [wrong] Pass it on
// says: no rank has waited for some signal
@@
-		hToken.WaitSignal(left, 0)

// %% [wrong] Pass it on
// says: has never had the token
func relay() { // no communication: only rank 0 knows the number
	if rank == 0 {
		token.Fill(first << (size - 1))
	}
}

// %% [wrong] Pass it on
// says: only the others double it
@@
 		hToken.WaitSignal(left, 0)
+		token.Fill(2 * token.Ints()[0])

// %% [wrong] Predict: what is left
// says: a wait does not consume every signal
predict := 0.0

// %% [wrong] Predict: what is left
// says: 1 is the number of signals that the wait consumes
predict := 1.0

// %% [wrong] Predict: what is left
// says: 3 are put
predict := 3.0

// %% [wrong] Predict: what is left
// says: would be right if every rank put signals, and every rank waited for one
predict := 8.0

// %% [wrong] Predict: what is left
// says: put its three signals and no rank waited
predict := 12

// %% [wrong] Predict: what is left
// says: count the puts of rank 0
predict := 6.0 // the sum of the channels

// %% [wrong] Repair: too early
// says: collect may return before the new number is there
func post(n int) { // one of the two is repaired
	h.PutSignal(right, 2)
	h.Put(right, symm.Local(symm.F32, 4).Fill(n))
}

func collect() float32 {
	h.WaitSignal(left, 2)
	return t.Float32s()[0]
}

// %% [wrong] Repair: too early
// says: collect may return before the new number is there
func post(n int) { // the other one is repaired
	h.Put(right, symm.Local(symm.F32, 4).Fill(n))
	h.PutSignal(right, 2)
}

func collect() float32 {
	got := t.Float32s()[0]
	h.WaitSignal(left, 2)
	return got
}

// %% [wrong] Repair: too early
// says: waits for a signal that never comes
@@
-	h.PutSignal(right, 2)
+	h.PutSignal(right, 1)

// %% [wrong] Repair: too early
// says: collect may return before the new number is there
func post(n int) { // no signal: it hopes that 20 ms are enough
	h.Put(right, symm.Local(symm.F32, 4).Fill(n))
}

func collect() float32 {
	time.Sleep(20 * time.Millisecond)
	return t.Float32s()[0]
}

// %% [wrong] Repair: too early
// says: a number has never arrived
@@
-	h.Put(right, symm.Local(symm.F32, 4).Fill(n))
+	t.Fill(n)
@@
-	return t.Float32s()[0]
+	return h.GetBuffer(right, symm.F32, 4).Float32s()[0]

// %% [wrong] Repair: too early
// says: a signal was put that nobody waits for
@@
 	h.PutSignal(right, 2)
+	h.PutSignal(right, 3)

// %% [wrong] Predict: what is left
// says: the rank that has put a signal lists it too
predict := 4

// %% [wrong] Pass it on
// says: rank 1 has had the token twice
@@
-	hToken.PutSignal(right, 0)
@@
-		hToken.WaitSignal(left, 0)
-		return
+		hToken.PutSignal(right, 0)
@@
 	pass(2 * token.Ints()[0])
+	hToken.PutSignal(right, 0)

// %% [wrong] Repair: too early
// says on the cpu device: collect may return before the new number is there
func post(n int) { // longer than any delay of the check
	h.PutSignal(right, 2)
	h.Put(right, symm.Local(symm.F32, 4).Fill(n))
}

func collect() float32 {
	h.WaitSignal(left, 2)
	time.Sleep(200 * time.Millisecond)
	return t.Float32s()[0]
}

// %% [wrong] Repair: too early
// says on the cpu device: collect may return before the new number is there
@@
-func collect() float32 {
+func collect() float32 { // longer than any delay of the check, and the wait after it
+	time.Sleep(200 * time.Millisecond)
+	got := t.Float32s()[0]
@@
-	return t.Float32s()[0]
+	return got

// %% [wrong] Pass it on
// says: it is right on 4 ranks, but not on 3
@@
-		hToken.WaitSignal(left, 0)
+		hToken.WaitSignal(3, 0) // the left neighbour among four ranks
