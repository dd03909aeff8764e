//go:build ignore

// Wrong answers to the exercises of 01-hello-ranks. The README says how they are written.

// %% [wrong] The left neighbour
// says: left(0, 2) is -1; ranks are 0 to 1
func left(rank, size int) int { return (rank - 1) % size }

// %% [wrong] The left neighbour
// says: left(0, 2) is 2; ranks are 0 to 1
func left(rank, size int) int { return size - rank }

// %% [wrong] The left neighbour
// says: left(0, 3) is 1, but to the right of 1 is 2
func left(rank, size int) int { return (rank + 1) % size }

// %% [wrong] The left neighbour
// says: left(1, 3) is 1, but to the right of 1 is 2
func left(rank, size int) int { return size - 1 - rank }

// %% [wrong] The left neighbour
// says: ranks are 0 to 1
func left(rank, size int) int {
	if rank == 0 {
		return symm.WorldSize() - 1
	}
	return rank - 1
}

// %% [wrong] The left neighbour
// says: left(0, 3) is 1, but to the right of 1 is 2
func left(rank, size int) int {
	if rank == 0 {
		return 1
	}
	return rank - 1
}

// %% [wrong] Predict: the count of rank 1
// says: would be right if rank 0 had changed the count
predict := 33.0

// %% [wrong] Predict: the count of rank 1
// says: 22 is the count of rank 0
predict := 22.0

// %% [wrong] Predict: the count of rank 1
// says: 2 is what rank 0 multiplies by
predict := 2.0

// %% [wrong] Predict: the count of rank 1
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: the count of rank 1
// says: the count of rank 1 is not 13
predict := 13.0 // the sum of both

// %% [wrong] Repair: first and last
// says: role(1, 2) is "middle": of 2 ranks, 0 to 1, rank 1 is "last"
@@
-func role(rank, size int) string {
+func role(rank, size int) string { // one of two mistakes
@@
-	if rank == size-1 {
+	if rank == size {

// %% [wrong] Repair: first and last
// says: role(0, 2) is "middle"
@@
-func role(rank, size int) string {
-	if rank == 0 {
+func role(rank, size int) string { // the other one
+	if rank == 1 {

// %% [wrong] Repair: first and last
// says: role(1, 2) is "middle"
func role(rank, size int) string { // right for four ranks only
	switch rank {
	case 0:
		return "first"
	case 3:
		return "last"
	}
	return "middle"
}

// %% [wrong] Repair: first and last
// says: role(1, 3) is "last"
func role(rank, size int) string {
	if rank == 0 {
		return "first"
	}
	return "last"
}

// %% [wrong] Repair: first and last
// says: role(1, 2) is "middle"
@@
-func role(rank, size int) string {
+func role(rank, size int) string { // asks for the rank that runs it
@@
-	if rank == size-1 {
+	if rank == symm.WorldSize()-1 {

// %% [wrong] Repair: first and last
// says: as func(rank int, size int) string value
@@
-func role(rank, size int) string {
+func role(rank, size int32) string {
