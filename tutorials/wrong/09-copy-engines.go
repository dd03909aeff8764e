//go:build ignore

// Wrong answers to the exercises of 09-copy-engines. The README says how they are written.

// %% [wrong] A pipeline
// says: a piece is sent before it is computed
@@
-		ready.Record()
-		ready.Wait(side)

// %% [wrong] A pipeline
// says: send each piece as soon as it is computed
@@
-		ready.Record()
-		ready.Wait(side)
+	}
+	ready.Record()
+	ready.Wait(side)
+	for i := range pieces {

// %% [wrong] A pipeline
// says: let neither the main stream nor the host wait for it
@@
-		ready.Record()
-		ready.Wait(side)
+		symm.Synchronize()

// %% [wrong] A pipeline
// says: let neither the main stream nor the host wait for it
@@
 		symm.OnStream(side, func() { send(i) })
+		ready.Record(side)
+		ready.Wait()

// %% [wrong] A pipeline
// says: a piece is sent before it is computed
func pipeline(pieces int) {
	for i := range pieces {
		ready.Record()
		compute(i)
		ready.Wait(side)
		symm.OnStream(side, func() { send(i) })
	}
}

// %% [wrong] A pipeline
// says: is each piece computed and sent?
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
	}
}

// %% [wrong] Predict: four pieces
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: four pieces
// says: 1700 would be right if everything had to arrive first
predict := 1700.0

// %% [wrong] Predict: four pieces
// says: 800 is the time of the products alone
predict := 800.0

// %% [wrong] Predict: four pieces
// says: at 900 the last piece arrives
predict := 900.0

// %% [wrong] Predict: four pieces
// says: it arrives at 300
predict := 1000.0

// %% [wrong] Predict: four pieces
// says: each product begins when its rows are there
predict := 1300.0

// %% [wrong] Repair: one layer ahead
// says: whose product still reads it
@@
-func forward(layers int) {
+func forward(layers int) { // recorded, and nobody waits
@@
-		used[b].Wait(side)

// %% [wrong] Repair: one layer ahead
// says: whose product still reads it
@@
-func forward(layers int) {
+func forward(layers int) { // the main stream waits for itself
@@
-		used[b].Wait(side)
+		used[b].Wait()

// %% [wrong] Repair: one layer ahead
// says: whose product still reads it
func forward(layers int) { // recorded before the product
	for layer := range layers {
		b := layer % 2
		used[b].Wait(side)
		symm.OnStream(side, func() { gather(layer, b) })
		arrived[b].Record(side)
		arrived[b].Wait()
		used[b].Record()
		multiply(layer, b)
	}
}

// %% [wrong] Repair: one layer ahead
// says: whose product still reads it
func forward(layers int) { // waits after the gather
	for layer := range layers {
		b := layer % 2
		symm.OnStream(side, func() { gather(layer, b) })
		used[b].Wait(side)
		arrived[b].Record(side)
		arrived[b].Wait()
		multiply(layer, b)
		used[b].Record()
	}
}

// %% [wrong] Repair: one layer ahead
// says: layer 2 is not gathered while layer 1 is multiplied
func forward(layers int) { // one event for both buffers
	for layer := range layers {
		b := layer % 2
		used[0].Wait(side)
		symm.OnStream(side, func() { gather(layer, b) })
		arrived[b].Record(side)
		arrived[b].Wait()
		multiply(layer, b)
		used[0].Record()
	}
}

// %% [wrong] Repair: one layer ahead
// says: layer 2 is not gathered while layer 1 is multiplied
@@
-		used[b].Wait(side)
@@
-		used[b].Record()
+		symm.Synchronize()

// %% [wrong] Repair: one layer ahead
// says: layer 2 is not gathered while layer 1 is multiplied
func forward(layers int) { // one stream
	for layer := range layers {
		b := layer % 2
		gather(layer, b)
		multiply(layer, b)
	}
}

// %% [wrong] Repair: one layer ahead
// says: before its weights have arrived
@@
-		arrived[b].Wait()

// %% [wrong] Repair: one layer ahead
// says: multiply from the buffer into which it was gathered
@@
-		symm.OnStream(side, func() { gather(layer, b) })
+		symm.OnStream(side, func() { gather(layer, 1-b) })
