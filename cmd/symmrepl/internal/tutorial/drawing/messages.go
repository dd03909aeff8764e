package drawing

import "fmt"

// lives draws the lives of two ranks from top to bottom, and returns their places.
func lives(s *sheet, bottom float64) (a, b float64) {
	a, b = 110, s.width-110
	for r, x := range []float64{a, b} {
		s.box(x-45, 8, 90, 26, several[r], fmt.Sprint("rank ", r))
		s.line(x, 34, x, bottom, grey)
	}
	return a, b
}

// signalled: a put and its signal; the other rank waits, then reads.
func signalled(s *sheet) {
	a, b := lives(s, 165)
	s.arrow(a, 60, b, 80, blue)
	s.words((a+b)/2, 62, middle, "data")
	s.signal(a, 100, b, 120, red)
	s.words((a+b)/2, 102, middle, "signal")
	s.box(b-5, 50, 10, 70, grey)
	s.words(a-10, 64, right, "put")
	s.words(a-10, 104, right, "put signal")
	s.words(b+12, 88, left, "wait")
	s.words(b+12, 144, left, "read")
}

// bothWays: a slot that is used again; the reader answers.
func bothWays(s *sheet) {
	a, b := lives(s, 225)
	s.arrow(a, 52, b, 66, blue)
	s.signal(a, 72, b, 90, red)
	s.words((a+b)/2, 100, middle, "0: the data is there")
	s.words(b+12, 116, left, "read")
	s.signal(b, 124, a, 144, green)
	s.words((a+b)/2, 156, middle, "1: I have read it")
	s.arrow(a, 172, b, 186, blue)
	s.signal(a, 192, b, 210, red)
	s.words(a-10, 176, right, "next data")
}

// pieces: four pieces with weak signals arrive in any order; the receiver answers.
func pieces(s *sheet) {
	a, b := lives(s, 225)
	for i, at := range []float64{150, 76, 98, 120} {
		from := 50 + 22*float64(i)
		s.arrow(a, from, b, at, several[i])
		s.words(a-10, from+5, right, fmt.Sprint("piece ", i))
		s.words(b+12, at+5, left, fmt.Sprint("word ", 10+i))
	}
	s.words(b+12, 176, left, "read all")
	s.signal(b, 186, a, 206, red)
	s.words((a+b)/2, 216, middle, "word 14: I have read them")
	s.words(a-10, 212, right, "next round")
}

// trips: an all-reduce with barriers, and one with packets.
func trips(s *sheet) {
	for i, method := range []string{"barrier, read, barrier: 4 trips", "packets: 1 trip"} {
		x := 40 + 290*float64(i)
		s.words(x+95, 20, middle, method)
		s.line(x, 32, x, 212, blue)
		s.line(x+190, 32, x+190, 212, green)
		if i == 1 {
			s.arrow(x, 50, x+190, 80, blue)
			s.arrow(x+190, 50, x, 80, green)
			continue
		}
		s.signal(x, 44, x+190, 74, red)
		s.arrow(x+190, 84, x, 110, grey)
		s.arrow(x, 116, x+190, 142, blue)
		s.signal(x, 160, x+190, 190, red)
		s.words(x+95, 84, middle, "request")
		s.words(x+95, 150, middle, "data")
	}
}

// packet: data and flag in one store.
func packet(s *sheet) {
	s.box(20, 10, 200, 36, red, "epoch, 32 bits")
	s.box(222, 10, 200, 36, blue, "data, 32 bits")
	s.words(220, 68, middle, "one store of 8 bytes: both halves are new, or none")
}

// tokens: tokens travel to their experts, and the results back.
func tokens(s *sheet) {
	for i, name := range []string{"tokens", "experts", "sums"} {
		s.words(60+240*float64(i), 18, middle, name)
	}
	for host := range 2 {
		s.box(240, 32+85*float64(host), 120, 70, grey, fmt.Sprintf("experts %d, %d", 2*host, 2*host+1), fmt.Sprint("on rank ", host))
	}
	for t, chosen := range [][]int{{1, 0}, {0, 1}, {1, 0}} {
		y := 36 + 56*float64(t)
		s.box(10, y, 100, 34, several[t], fmt.Sprint("token ", t))
		s.box(490, y, 100, 34, several[t], fmt.Sprint("token ", t))
		for i, rank := range chosen {
			at := 48 + 85*float64(rank) + 18*float64(t)
			s.arrow(110, y+17, 238, at, several[t])
			s.arrow(360, at, 488, y+10+14*float64(i), several[t])
		}
	}
}
