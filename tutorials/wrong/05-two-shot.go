//go:build ignore

// Wrong answers to the exercises of 05-two-shot. The README says how they are written.

// %% [wrong] Fair slices
// says: one slice has 2 elements, another 4
func slice(r, ranks, n int) (first, end int) {
	each := n / ranks
	if r == ranks-1 {
		return r * each, n
	}
	return r * each, (r + 1) * each
}

// %% [wrong] Fair slices
// says: one slice has 1 elements, another 3
func slice(r, ranks, n int) (first, end int) {
	each := (n + ranks - 1) / ranks
	return r * each, min((r+1)*each, n)
}

// %% [wrong] Fair slices
// says: slice 1 is 2 to 4, but the one before it ends at 1
func slice(r, ranks, n int) (first, end int) { // the last element, not the one after it
	return r * n / ranks, (r+1)*n/ranks - 1
}

// %% [wrong] Fair slices
// says: but the one before it ends at
func slice(r, ranks, n int) (first, end int) {
	return r * n / ranks, r*n/ranks + n/ranks
}

// %% [wrong] Fair slices
// says: the last slice ends at 8
func slice(r, ranks, n int) (first, end int) {
	return r * (n / ranks), (r + 1) * (n / ranks)
}

// %% [wrong] Fair slices
// says: one slice has
func slice(r, ranks, n int) (first, end int) { // the first rank takes the remainder
	each, rest := n/ranks, n%ranks
	if r == 0 {
		return 0, each + rest
	}
	return rest + r*each, rest + (r+1)*each
}

// %% [wrong] Predict: eight ranks
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: eight ranks
// says: it is the other way round
predict := 0.25

// %% [wrong] Predict: eight ranks
// says: would be right if the slices travelled once
predict := 8.0

// %% [wrong] Predict: eight ranks
// says: 2 is the answer for four ranks
predict := 2.0

// %% [wrong] Predict: eight ranks
// says: a rank does not send its own slice to itself
predict := 3.5

// %% [wrong] Predict: eight ranks
// says: divide (N-1)·S by
predict := 16.0

// %% [wrong] Repair: the remainder
// says: an element behind the last one
@@
-  int each = n / h.world_size, first = h.rank * each, end = first + each;
-  if (h.rank == h.world_size - 1) end = n;
+  int each = (n + h.world_size - 1) / h.world_size, first = h.rank * each, end = first + each; // rounded up

// %% [wrong] Repair: the remainder
// says: some belong to no rank
@@
-  if (h.rank == h.world_size - 1) end = n;
+  if (h.rank == 0) end += n % h.world_size; // the first ones again

// %% [wrong] Repair: the remainder
// says: some belong to no rank
@@
-  if (h.rank == h.world_size - 1) end = n;
+  if (h.rank == h.world_size - 1) end = n - 1;

// %% [wrong] Repair: the remainder
// says on the cpu device: the sanitizer finds accesses that nothing orders
@@
-  symm::barrier(h, 0);
+  

// %% [wrong] Repair: the remainder
// says: some belong to no rank
@@
-  int each = n / h.world_size, first = h.rank * each, end = first + each;
-  if (h.rank == h.world_size - 1) end = n;
+  int each = (n + h.world_size - 1) / h.world_size, first = h.rank * each, end = min(first + each, n / h.world_size * h.world_size);

// %% [wrong] Repair: the remainder
// says: it is right on 4 ranks, but not on 3
@@
-    for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[i];
-    for (int p = 0; p < h.world_size; p++) h.buffer<float>(p)[i] = total;
+    for (int p = 0; p < 4; p++) total += h.buffer<float>(p)[i];
+    for (int p = 0; p < 4; p++) h.buffer<float>(p)[i] = total;

// %% [wrong] Repair: the remainder
// says: it is right on 4 ranks, but not on 3
@@
-  int each = n / h.world_size, first = h.rank * each, end = first + each;
-  if (h.rank == h.world_size - 1) end = n;
+  int first = h.rank * n / 4, end = (h.rank + 1) * n / 4;

// %% [wrong] Fair slices
// says: 3 ranks share 10 elements: the last slice ends at 7
func slice(r, ranks, n int) (first, end int) {
	shift := 0 // a division by shifting is right for powers of two
	for 1<<shift < ranks {
		shift++
	}
	return r * n >> shift, (r + 1) * n >> shift
}
