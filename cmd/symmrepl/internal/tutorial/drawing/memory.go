package drawing

import (
	"fmt"
	"math"
)

// ranks: a cell that runs on four ranks, each with a variable of its own.
func ranks(s *sheet) {
	s.box(190, 10, 200, 34, grey, "x := symm.Rank() * 10")
	for r := range 4 {
		x := 20 + 140*float64(r)
		s.arrow(290, 44, x+60, 86, grey)
		s.box(x, 86, 120, 50, several[r], fmt.Sprint("rank ", r), fmt.Sprint("x is ", 10*r))
	}
}

// ring: four ranks, each with an arrow to its right neighbour.
func ring(s *sheet) {
	for r := range 4 {
		x := 50 + 110*float64(r)
		s.disc(x, 34, 22, several[r], fmt.Sprint(r))
		if r < 3 {
			s.arrow(x+22, 34, x+88, 34, grey)
		}
	}
	s.path(grey, 380, 56, 380, 84, 50, 84, 50, 57)
	s.words(215, 102, middle, "the right neighbour of the last rank is rank 0")
}

// memory: two ranks with a copy of t each, and handles that know both copies.
func memory(s *sheet) {
	for r := range 2 {
		x := 10 + 290*float64(r)
		s.frame(x, 10, 250, 190, fmt.Sprint("rank ", r))
		s.box(x+50, 40, 150, 36, several[r], "t, its copy")
		s.words(x+20, 193, left, "handle h")
		for copy := range 2 {
			s.box(x+20+108*float64(copy), 126, 102, 50, several[copy], "buffer of", fmt.Sprint("rank ", copy))
		}
	}
	s.arrow(81, 126, 100, 77, blue)
	s.arrow(371, 126, 212, 72, blue)
	s.arrow(179, 126, 348, 72, green)
	s.arrow(469, 126, 450, 77, green)
}

// slots: rank 1 writes its slot of every rank's copy.
func slots(s *sheet) {
	s.box(190, 10, 140, 34, green, "rank 1: secret")
	for r := range 4 {
		x := 20 + 125*float64(r)
		s.arrow(260, 44, x+37, 106, green)
		for slot := range 4 {
			c := grey
			if slot == 1 {
				c = green
			}
			s.box(x+25*float64(slot), 106, 23, 34, c, fmt.Sprint(slot))
		}
		s.words(x+50, 160, middle, fmt.Sprint("slots of rank ", r))
	}
}

// oneShot: one rank reads the vectors of all, and adds them up.
func oneShot(s *sheet) {
	s.words(80, 22, middle, "vectors")
	s.words(420, 22, middle, "sums")
	for r := range 4 {
		y := 34 + 40*float64(r)
		n := fmt.Sprint(r + 1)
		s.box(10, y, 140, 30, several[r], fmt.Sprintf("rank %d: %s %s %s %s", r, n, n, n, n))
		s.box(340, y, 160, 30, several[r], fmt.Sprintf("rank %d: 10 10 10 10", r))
		s.arrow(150, y+15, 338, 89, several[r])
	}
}

// twoShot: each rank adds up one slice, and stores the sums to all ranks.
func twoShot(s *sheet) {
	s.words(155, 18, middle, "first shot: read a slice, add")
	s.words(435, 18, middle, "second shot: store the sums")
	for r := range 4 {
		y := 30 + 38*float64(r)
		s.words(8, y+19, left, fmt.Sprint("rank ", r))
		for slice := range 4 {
			x := 60 + 50*float64(slice)
			c := grey
			if slice == r {
				c = several[r]
			}
			s.box(x, y, 46, 28, c, fmt.Sprint(slice))
			s.box(x+280, y, 46, 28, several[slice], "sum")
		}
	}
	s.arrow(268, 96, 332, 96, grey)
}

// zones: the rows of three experts, whose zones begin at multiples of eight.
func zones(s *sheet) {
	counts, offsets := []int{5, 0, 7}, []int{0, 8, 8}
	at := func(row int) float64 { return 20 + 34*float64(row) }
	for row := range 16 {
		s.box(at(row), 60, 32, 32, grey, fmt.Sprint(row))
	}
	for e, n := range counts {
		for row := offsets[e]; row < offsets[e]+n; row++ {
			s.box(at(row), 60, 32, 32, several[e], fmt.Sprint(row))
		}
	}
	s.words(at(0), 22, left, "expert 0: 5 rows from 0 on")
	s.words(at(8), 22, left, "expert 1: none, from 8 on")
	s.words(at(8), 42, left, "expert 2: 7 rows from 8 on")
	s.words(at(5), 112, left, "padding")
	s.words(at(15)+32, 112, right, "padding")
}

// circle: four ranks that wait for each other.
func circle(s *sheet) {
	const x, y, radius = 160, 115, 75
	at := func(r float64) (float64, float64) {
		angle := 2*math.Pi*r/4 - math.Pi/2
		return math.Round(x + radius*math.Cos(angle)), math.Round(y + radius*math.Sin(angle))
	}
	for r := range 4 {
		x1, y1 := at(float64(r))
		x2, y2 := at(float64(r + 3))
		part := 26 / math.Hypot(x2-x1, y2-y1)
		round := func(from, to float64) float64 { return math.Round(from + (to-from)*part) }
		s.signal(round(x1, x2), round(y1, y2), round(x2, x1), round(y2, y1), red)
	}
	for r := range 4 {
		x1, y1 := at(float64(r))
		s.disc(x1, y1, 22, several[r], fmt.Sprint(r))
	}
	s.words(x, y+4, middle, "waits for")
}
