package perfetto

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// file is a file as a reader sees it.
type file struct {
	clock, primary uint64
	tracks         map[uint64]track
	slices         []slice
	flows          map[uint64][2]int // by id: the slices where it begins and ends
}

type track struct {
	name, description string
	parent            uint64
}

type slice struct {
	track          uint64
	name, category string
	begin, end     uint64
	parent         int // the slice within which it lies; -1 for none
	args           map[string]string
}

// fields calls f for each field of a message.
func fields(m []byte, f func(n protowire.Number, v uint64, sub []byte)) error {
	for len(m) > 0 {
		n, kind, size := protowire.ConsumeTag(m)
		if size < 0 {
			return protowire.ParseError(size)
		}
		m = m[size:]
		var v uint64
		var sub []byte
		switch kind {
		case protowire.VarintType:
			v, size = protowire.ConsumeVarint(m)
		case protowire.Fixed64Type:
			v, size = protowire.ConsumeFixed64(m)
		case protowire.BytesType:
			sub, size = protowire.ConsumeBytes(m)
		default:
			return fmt.Errorf("field %d has type %d", n, kind)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		m = m[size:]
		f(n, v, sub)
	}
	return nil
}

// read reads a file as trace_processor does, and reports what that would warn of: a slice that ends
// without a begin, or not as the innermost one, times that go back, unknown strings and tracks,
// arrows that end without a begin.
func read(data []byte) (*file, error) {
	f := &file{tracks: map[uint64]track{}, flows: map[uint64][2]int{}}
	texts := map[protowire.Number]map[uint64]string{}
	open := map[uint64][]int{}
	last := uint64(0)
	var failed error
	fail := func(format string, args ...any) {
		if failed == nil {
			failed = fmt.Errorf(format, args...)
		}
	}
	each := func(m []byte, do func(n protowire.Number, v uint64, sub []byte)) {
		if err := fields(m, do); err != nil {
			fail("%w", err)
		}
	}
	text := func(kind protowire.Number, id uint64) string {
		s, known := texts[kind][id]
		if !known {
			fail("string %d of kind %d is not defined", id, kind)
		}
		return s
	}
	each(data, func(_ protowire.Number, _ uint64, packet []byte) {
		var at uint64
		var event []byte
		each(packet, func(n protowire.Number, v uint64, sub []byte) {
			switch n {
			case packetTimestamp:
				at = v
			case packetEvent:
				event = sub
			case packetClockSnapshot:
				each(sub, func(n protowire.Number, v uint64, sub []byte) {
					if n == snapshotPrimary {
						f.primary = v
						return
					}
					each(sub, func(n protowire.Number, v uint64, _ []byte) {
						if n == clockTime {
							f.clock = v
						}
					})
				})
			case packetTrack:
				var d track
				id := uint64(0)
				each(sub, func(n protowire.Number, v uint64, sub []byte) {
					switch n {
					case trackUUID:
						id = v
					case trackName:
						d.name = string(sub)
					case trackDescription:
						d.description = string(sub)
					case trackParent:
						if d.parent = v; f.tracks[v].name == "" {
							fail("track %d comes before its parent", id)
						}
					}
				})
				f.tracks[id] = d
			case packetInterned:
				each(sub, func(kind protowire.Number, _ uint64, sub []byte) {
					var id uint64
					var s string
					each(sub, func(n protowire.Number, v uint64, sub []byte) {
						if n == internedID {
							id = v
						} else {
							s = string(sub)
						}
					})
					if texts[kind] == nil {
						texts[kind] = map[uint64]string{}
					}
					if texts[kind][id] = s; id == 0 {
						fail("a string has no id")
					}
				})
			}
		})
		if event == nil {
			return
		}
		if at < last {
			fail("time %d comes after %d", at, last)
		}
		last = at
		s := slice{begin: at, end: at, parent: -1, args: map[string]string{}}
		var kind uint64
		var leaving, reaching []uint64
		each(event, func(n protowire.Number, v uint64, sub []byte) {
			switch n {
			case eventType:
				kind = v
			case eventTrack:
				if s.track = v; f.tracks[v].name == "" {
					fail("track %d is not defined", v)
				}
			case eventName:
				s.name = text(internedNames, v)
			case eventCategory:
				s.category = text(internedCategories, v)
			case eventFlow:
				leaving = append(leaving, v)
			case eventTerminating:
				reaching = append(reaching, v)
			case eventAnnotation:
				var name, value string
				each(sub, func(n protowire.Number, v uint64, _ []byte) {
					switch n {
					case annotationName:
						name = text(internedAnnotations, v)
					case annotationInt:
						value = fmt.Sprint(int64(v))
					case annotationString:
						value = text(internedStrings, v)
					}
				})
				s.args[name] = value
			}
		})
		stack := open[s.track]
		var here int
		switch kind {
		case sliceBegin, instant:
			if len(stack) > 0 {
				s.parent = stack[len(stack)-1]
			}
			here = len(f.slices)
			if f.slices = append(f.slices, s); kind == sliceBegin {
				open[s.track] = append(stack, here)
			}
		case sliceEnd:
			if len(stack) == 0 {
				fail("a slice of track %d ends without a begin", s.track)
				return
			}
			here = stack[len(stack)-1]
			f.slices[here].end = at
			open[s.track] = stack[:len(stack)-1]
		default:
			fail("an event of type %d", kind)
		}
		for _, id := range leaving {
			f.flows[id] = [2]int{here, -1}
		}
		for _, id := range reaching {
			flow, known := f.flows[id]
			if !known {
				fail("arrow %d ends without a begin", id)
			}
			flow[1] = here
			f.flows[id] = flow
		}
	})
	for id, stack := range open {
		if len(stack) > 0 {
			fail("%d slices of track %d do not end", len(stack), id)
		}
	}
	for id, flow := range f.flows {
		if flow[1] < 0 {
			fail("arrow %d does not end", id)
		}
	}
	return f, failed
}
