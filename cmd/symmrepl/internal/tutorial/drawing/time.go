package drawing

import "fmt"

// bar is work from a time to another.
type bar struct {
	from, to float64
	c        colour
	name     string
}

// lane draws bars beside a name.
func lane(s *sheet, y float64, name string, bars ...bar) {
	s.words(8, y+18, left, name)
	for _, b := range bars {
		s.box(120+b.from, y, b.to-b.from-2, 26, b.c, b.name)
	}
}

// overlap: an all-gather and a product, one after the other and at once.
func overlap(s *sheet) {
	lane(s, 10, "in turn", bar{0, 150, blue, "all-gather"}, bar{150, 350, green, "product"})
	lane(s, 60, "overlapped", bar{0, 150, blue, "all-gather"})
	lane(s, 90, "", bar{0, 200, green, "product"})
	s.arrow(120, 134, 540, 134, grey)
	s.words(540, 128, right, "time")
}

// streams: two streams, and the events that order them.
func streams(s *sheet) {
	lane(s, 10, "main stream", bar{0, 60, brown, "fill"}, bar{90, 250, green, "product a × b"}, bar{300, 470, green, "product all × w"})
	lane(s, 76, "side stream", bar{90, 250, blue, "all-gather"})
	s.signal(180, 30, 208, 78, red)
	s.signal(368, 82, 418, 37, red)
	s.words(208, 58, left, "filled")
	s.words(408, 66, left, "gathered")
}

// ahead: the weights of layers are gathered one layer ahead, into two buffers.
func ahead(s *sheet) {
	var gathers, products []bar
	for layer, from := range []float64{0, 70, 180, 290} {
		of := []colour{blue, brown}[layer%2]
		gathers = append(gathers, bar{from, from + 70, of, fmt.Sprint("gather ", layer)})
		if layer < 3 {
			products = append(products, bar{70 + 110*float64(layer), 180 + 110*float64(layer), of, fmt.Sprint("product ", layer)})
		}
	}
	lane(s, 10, "side stream", gathers...)
	lane(s, 76, "main stream", products...)
	s.signal(299, 76, 299, 38, red)
	s.signal(409, 76, 409, 38, red)
	s.words(307, 62, left, "used")
	s.words(417, 62, left, "used")
	s.words(120, 124, left, "buffer 0 is blue, buffer 1 is brown")
}

// launches: operations that are launched one by one, and as a graph.
func launches(s *sheet) {
	var host, device, replayed []bar
	for i := range 4 {
		at := 95 * float64(i)
		host = append(host, bar{at, at + 80, grey, "launch"})
		device = append(device, bar{at + 80, at + 115, several[i], fmt.Sprint(i)})
		replayed = append(replayed, bar{80 + 37*float64(i), 117 + 37*float64(i), several[i], fmt.Sprint(i)})
	}
	lane(s, 10, "host", host...)
	lane(s, 44, "device", device...)
	lane(s, 104, "host", bar{0, 80, grey, "replay"})
	lane(s, 138, "device", replayed...)
	s.words(540, 90, right, "one by one: the device waits for the host")
	s.words(540, 182, right, "a graph: launched once, nothing in between")
}

// roofline: the share of a link that an all-reduce can use, by its size.
func roofline(s *sheet) {
	s.path(grey, 60, 190, 60, 20)
	s.path(grey, 60, 190, 500, 190)
	s.stroke(blue, "", 70, 180, 280, 50, 480, 50)
	s.signal(280, 190, 280, 54, red)
	s.words(70, 30, left, "share of the link's bandwidth")
	s.words(70, 208, left, "4 KB")
	s.words(280, 208, middle, "281 KB")
	s.words(480, 208, right, "256 MB")
	s.words(170, 150, left, "fewer trips")
	s.words(300, 80, left, "fewer bytes")
}

// layer: a layer of experts in turn, and with the shared expert beside the combine.
func layer(s *sheet) {
	staircase := []bar{{0, 68, grey, "routing"}, {68, 140, blue, "dispatch"}, {140, 210, green, "experts"},
		{210, 284, blue, "combine"}, {284, 350, brown, "shared"}, {350, 390, violet, "sum"}}
	lane(s, 10, "in turn", staircase...)
	lane(s, 70, "overlapped", append(staircase[:4:4], bar{284, 324, violet, "sum"})...)
	lane(s, 104, "", bar{210, 276, brown, "shared"})
	lane(s, 164, "overlapped", bar{0, 68, grey, "routing"}, bar{68, 130, blue, "send"}, bar{130, 196, brown, "shared"},
		bar{196, 258, blue, "rows"},
		bar{258, 328, green, "experts"}, bar{328, 402, blue, "combine"}, bar{402, 438, violet, "sum"})
	s.words(120, 152, left, "the shared expert while rows travel:")
	s.words(120, 58, left, "the shared expert beside the combine:")
}

// race: two threads and one word, without an order and with one.
func race(s *sheet) {
	for i, name := range []string{"a race: nothing orders them", "ordered by a barrier"} {
		x := 20 + 280*float64(i)
		s.words(x+120, 20, middle, name)
		for thread := range 2 {
			at := x + 50 + 140*float64(thread)
			s.words(at, 44, middle, fmt.Sprint("thread ", thread))
			s.line(at, 52, at, []float64{110, 190}[i], grey)
		}
		s.box(x+10, 66, 80, 28, red, "s[1] = 7")
		if i == 0 {
			s.box(x+150, 72, 80, 28, blue, "… = s[1]")
			s.words(x+120, 130, middle, "7, or what was there?")
			continue
		}
		s.box(x+10, 112, 220, 24, grey, "__syncthreads()")
		s.box(x+150, 152, 80, 28, blue, "… = s[1]")
	}
}

// border: the data that goes from symmrepl to PyTorch, and back.
func border(s *sheet) {
	s.frame(10, 10, 150, 170, "symmrepl")
	s.frame(400, 10, 150, 170, "PyTorch")
	for i, way := range []struct {
		here, words, there string
		there2, back       bool
	}{
		{here: "kernel", words: ":export k.py", there: "module", there2: true},
		{here: "tensor", words: "Save, Load, get, put", there: "tensor", there2: true, back: true},
		{here: "kernel", words: "LoadKernel", there: "Triton", back: true},
	} {
		y := 36 + 46*float64(i)
		s.box(30, y, 110, 34, several[i], way.here)
		s.box(420, y, 110, 34, several[i], way.there)
		if way.there2 {
			s.arrow(140, y+17, 418, y+17, several[i])
		}
		if way.back {
			s.arrow(420, y+17, 142, y+17, several[i])
		}
		s.words(280, y+10, middle, way.words)
	}
}
