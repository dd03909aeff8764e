//go:build ignore

// Wrong answers to the exercises of 08-experts. The README says how they are written.

// %% [wrong] The weighted sum
// says: place[c] is the row of copy c
@@
-    for (int c = 2 * t; c < 2 * t + 2; c++) sum += weight[c] * back[place[c] * hidden + j];
+    for (int c = 2 * t; c < 2 * t + 2; c++) sum += weight[c] * back[c * hidden + j];

// %% [wrong] The weighted sum
// says: multiply each copy by its weight
@@
-    for (int c = 2 * t; c < 2 * t + 2; c++) sum += weight[c] * back[place[c] * hidden + j];
+    for (int c = 2 * t; c < 2 * t + 2; c++) sum += back[place[c] * hidden + j];

// %% [wrong] The weighted sum
// says: a token has two copies, whose rows are added
@@
-    float sum = 0;
-    for (int c = 2 * t; c < 2 * t + 2; c++) sum += weight[c] * back[place[c] * hidden + j];
-    y[t * hidden + j] = sum;
+    for (int c = 2 * t; c < 2 * t + 2; c++) y[t * hidden + j] = weight[c] * back[place[c] * hidden + j];

// %% [wrong] The weighted sum
// says: weight[c]
@@
-    for (int c = 2 * t; c < 2 * t + 2; c++) sum += weight[c] * back[place[c] * hidden + j];
+    for (int c = 2 * t; c < 2 * t + 2; c++) sum += weight[t] * back[place[c] * hidden + j];

// %% [wrong] The weighted sum
// says: some elements of y are not written
@@
-    y[t * hidden + j] = sum;
+    y[t * hidden] = sum;

// %% [wrong] The weighted sum
// says on the cpu device: reads right behind f32[8, 4]
@@
-  for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
+  {
+    int j = threadIdx.x; // 32 threads, and rows of 4

// %% [wrong] Predict: the place of a copy
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: the place of a copy
// says: 3 is the place of copy 0
predict := 3.0

// %% [wrong] Predict: the place of a copy
// says: that is the place of copy 4
predict := 5.0

// %% [wrong] Predict: the place of a copy
// says: the copies for smaller experts come before
predict := 1.0

// %% [wrong] Predict: the place of a copy
// says: count the copies for smaller experts
predict := 2.0

// %% [wrong] Repair: splits for ranks
// says: expert e is on rank e / 2
@@
-    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] / per == r;
+    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] % per == r;

// %% [wrong] Repair: splits for ranks
// says: copies with the choice -1 are counted for rank 0
@@
-    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] / per == r;
+    for (int c = 0; c < copies; c++) n += choice[c] / per == r;

// %% [wrong] Repair: splits for ranks
// says: added to what was in splits before
@@
-    int n = 0;
-    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] / per == r;
-    splits[r] = n;
+    for (int c = 0; c < copies; c++) splits[r] += choice[c] >= 0 && choice[c] / per == r;

// %% [wrong] Repair: splits for ranks
// says: expert e is on rank e / 2
@@
-    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] / per == r;
+    for (int c = 0; c < copies; c++) n += choice[c] == r;

// %% [wrong] Repair: splits for ranks
// says: expert e is on rank e / 2
@@
-    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] / per == r;
+    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] / per <= r;

// %% [wrong] Repair: splits for ranks
// says: expert e is on rank e / 3
@@
-    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] / per == r;
+    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] / 2 == r;

// %% [wrong] Repair: splits for ranks
// says: it is right for 4 ranks, but not for 5
@@
-  if (r < ranks) {
+  if (r < 4) {
