package drawing

import "fmt"

// twoHosts draws two hosts side by side with two ranks each, and returns the middle of a rank's box.
func twoHosts(s *sheet, y, height float64) func(rank int) (float64, float64) {
	w := (s.width - 60) / 2
	for host := range 2 {
		s.frame(10+(w+40)*float64(host), y, w, height, fmt.Sprint("host ", host))
	}
	at := func(rank int) (float64, float64) {
		return 10 + (w+40)*float64(rank/2) + w/2, y + 52 + (height-78)*float64(rank%2)
	}
	for rank := range 4 {
		x, y := at(rank)
		s.box(x-45, y-20, 90, 40, several[rank%2], fmt.Sprint("rank ", rank))
	}
	return at
}

// teams: the LSA teams are inside the hosts, the rails go across.
func teams(s *sheet) {
	at := twoHosts(s, 10, 180)
	for rank := range 2 {
		x1, y1 := at(rank)
		x2, _ := at(rank + 2)
		s.arrow(x1+45, y1, x2-46, y1, several[rank])
		s.arrow(x2-45, y1, x1+46, y1, several[rank])
	}
	for host := range 2 {
		x, y1 := at(2 * host)
		_, y2 := at(2*host + 1)
		s.arrow(x, y1+20, x, y2-21, red)
		s.arrow(x, y2-20, x, y1+21, red)
	}
	s.words(240, 212, middle, "inside a host: loads and stores; along a rail: puts and signals")
}

// hierarchical: the slices of an all-reduce in three steps.
func hierarchical(s *sheet) {
	steps := []string{"1 inside: sums of the host", "2 across: sums of all", "3 inside: everything"}
	for step, name := range steps {
		s.words(130+195*float64(step), 20, middle, name)
	}
	for rank := range 4 {
		y := 40 + 50*float64(rank) + 12*float64(rank/2)
		s.words(8, y+20, left, fmt.Sprint("rank ", rank))
		for step := range 3 {
			for slice := range 2 {
				c := grey
				switch {
				case step == 0 && slice == rank%2:
					c = []colour{blue, green}[rank/2]
				case step == 1 && slice == rank%2, step == 2:
					c = violet
				}
				s.box(62+195*float64(step)+70*float64(slice), y, 66, 32, c, fmt.Sprint("slice ", slice))
			}
		}
	}
	s.line(8, 142, 612, 142, grey)
	s.words(8, 136, left, "host 0")
	s.words(8, 158, left, "host 1")
}

// reach: pointers reach the ranks of the host, puts reach every rank.
func reach(s *sheet) {
	at := twoHosts(s, 10, 150)
	x, y := at(0)
	_, below := at(1)
	x2, _ := at(2)
	s.arrow(x, y+20, x, below-21, red)
	s.arrow(x+45, y, x2-46, y, brown)
	s.arrow(x+45, y+10, x2-46, below-6, brown)
	s.words(20, 178, left, "on my host: a pointer, ncclGetLsaPointer")
	s.words(20, 198, left, "on another host: a put, and a signal that it has arrived")
}
