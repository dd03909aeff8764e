//go:build ignore

// Wrong answers to the exercises of 02-symmetric-memory. The README says how they are written.

// %% [wrong] Gather by hand
// says: only rank
func gather() { // no communication: the numbers that the lesson shows
	for r := range size {
		slots.Slice(r, r+1).Fill(7*r + 3)
	}
	hs.Barrier(0)
}

// %% [wrong] Gather by hand
// says: each rank writes into its own slot of everybody's copy
@@
-		hs.GetBuffer(peer, symm.I32, size).Slice(rank, rank+1).Fill(secret)
+		hs.GetBuffer(peer, symm.I32, size).Slice(peer, peer+1).Fill(secret)

// %% [wrong] Gather by hand
// says: gather() must wait until all ranks have written
@@
-	hs.Barrier(0)

// %% [wrong] Gather by hand
// says: gather() must wait until all ranks have written
func gather() {
	hs.Barrier(0)
	for peer := range size {
		hs.GetBuffer(peer, symm.I32, size).Slice(rank, rank+1).Fill(secret)
	}
}

// %% [wrong] Gather by hand
// says: only rank
@@
-		hs.GetBuffer(peer, symm.I32, size).Slice(rank, rank+1).Fill(secret)
+		hs.GetBuffer(peer, symm.I32, size).Slice(rank, rank+1).Fill(rank * rank)

// %% [wrong] Gather by hand
// says: nobody has written slot
@@
-	for peer := range size {
+	for peer := range rank {

// %% [wrong] Predict: a view or a copy
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: a view or a copy
// says: would be right if GetBuffer made a copy
predict := 2.0

// %% [wrong] Predict: a view or a copy
// says: would be right if before were read at the end
predict := 14.0

// %% [wrong] Predict: a view or a copy
// says: is one of the two numbers
predict := 7.0

// %% [wrong] Predict: a view or a copy
// says: both times they read the copy of rank 0
predict := 9.0 // rank 1 begins with its own 2

// %% [wrong] Repair: give
// says: which barrier makes the readers wait for the puts
func give(root int) {
	h.Barrier(0)
	if rank == root {
		for peer := range size {
			h.Put(peer, symm.Local(symm.F32, 4).Fill(number))
		}
	}
}

// %% [wrong] Repair: give
// says: a copy was never written
func give(root int) {
	if rank == root {
		h.Put(right, symm.Local(symm.F32, 4).Fill(number))
	}
	h.Barrier(0)
}

// %% [wrong] Repair: give
// says: its own too
@@
-			h.Put(peer, symm.Local(symm.F32, 4).Fill(number))
+			if peer != rank {
+				h.Put(peer, symm.Local(symm.F32, 4).Fill(number))
+			}

// %% [wrong] Repair: give
// says: a rank waits in a barrier that another never reaches
@@
 		}
+		h.Barrier(0)
@@
-	h.Barrier(0)

// %% [wrong] Repair: give
// says: that is not the root
func give(root int) { // everybody writes, the last one wins
	for peer := range size {
		h.Put(peer, symm.Local(symm.F32, 4).Fill(number))
	}
	h.Barrier(0)
}

// %% [wrong] Repair: give
// says: that is not the root
func give(root int) { // no communication
	t.Fill(number)
	h.Barrier(0)
}

// %% [wrong] Repair: give
// says: give(0) fails
func give(root int) {
	h.Barrier(0)
	t.Fill(h.GetBuffer(root, symm.F32, 4)) // takes a number, not a tensor
	h.Barrier(0)
}

// %% [wrong] Repair: give
// says: it is right on 4 ranks, but not on 3
@@
-		for peer := range size {
+		for peer := range 4 {

// %% [wrong] Gather by hand
// says: it is right on 4 ranks, but not on 3
@@
-	for peer := range size {
+	for peer := range 4 {
