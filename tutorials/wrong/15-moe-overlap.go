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
@@
-	multiply()

// %% [wrong] Between sending and waiting
// says: call send, multiply, complete and rest once each, and rest at the end
@@
-	rest()

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

// %% [wrong] Repair: the zones
// says: is left out with 2 blocks
@@
-  int first = counts[e] * part / parts, end = counts[e] * (part + 1) / parts;
+  int first = part * (counts[e] / parts), end = first + counts[e] / parts;

// %% [wrong] Repair: the zones
// says: zones begin at [0 8 8]
@@
   int e = blockIdx.y, part = blockIdx.x, parts = gridDim.x;
+  int begin = 0;
+  for (int b = 0; b < e; b++) begin += counts[b];
@@
-    int row = offsets[e] + first + i / hidden, j = i % hidden;
+    int row = begin + first + i / hidden, j = i % hidden;

// %% [wrong] Repair: the zones
// says: is padding, and the kernel wrote it
@@
-  int first = counts[e] * part / parts, end = counts[e] * (part + 1) / parts;
+  int each = (counts[e] + parts - 1) / parts, first = part * each, end = first + each;

// %% [wrong] Repair: the zones
// says on the cpu device: every row belongs to one block
@@
-  int first = counts[e] * part / parts, end = counts[e] * (part + 1) / parts;
+  int first = 0, end = counts[e];  // each block takes all

// %% [wrong] Repair: the zones
// says: whose matrix it is multiplied by
@@
-    for (int k = 0; k < hidden; k++) sum += rows[row * hidden + k] * w[(e * hidden + k) * hidden + j];
+    for (int k = 0; k < hidden; k++) sum += rows[row * hidden + k] * w[k * hidden + j];

// %% [wrong] Repair: the zones
// says: has the weight
@@
-    made[row * hidden + j] = weights[row] * sum;
+    made[row * hidden + j] = weights[first + i / hidden] * sum;

// %% [wrong] Repair: the zones
// says on the cpu device: every row belongs to one block
@@
-  int first = counts[e] * part / parts, end = counts[e] * (part + 1) / parts;
+  int each = counts[e] / parts, first = part * each, end = counts[e];  // to the end
