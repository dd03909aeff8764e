package perfetto

import "google.golang.org/protobuf/encoding/protowire"

// The fields of Perfetto's messages that a file has.
const (
	tracePacket = 1

	packetClockSnapshot = 6
	packetTimestamp     = 8
	packetSequence      = 10
	packetEvent         = 11
	packetInterned      = 12
	packetFlags         = 13
	packetDefaults      = 59
	packetTrack         = 60

	snapshotClock   = 1
	snapshotPrimary = 2
	clockID         = 1
	clockTime       = 2
	defaultsClock   = 58

	trackUUID        = 1
	trackName        = 2
	trackParent      = 5
	trackChildren    = 11
	trackRank        = 12
	trackDescription = 14

	eventCategory    = 3
	eventAnnotation  = 4
	eventType        = 9
	eventName        = 10
	eventTrack       = 11
	eventFlow        = 47
	eventTerminating = 48

	annotationName   = 1
	annotationInt    = 4
	annotationString = 17

	internedCategories  = 1
	internedNames       = 2
	internedAnnotations = 3
	internedStrings     = 29
	internedID          = 1
	internedText        = 2
)

// Values of fields.
const (
	monotonic = 3 // BUILTIN_CLOCK_MONOTONIC

	sliceBegin = 1
	sliceEnd   = 2
	instant    = 3

	stateCleared = 1 // of packetFlags: strings are defined from here on
	needsState   = 2

	explicit = 3 // of trackChildren: by their trackRank
)

// message is a message as it is written.
type message []byte

func (m *message) uint(field protowire.Number, v uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
}

func (m *message) fixed(field protowire.Number, v uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), v)
}

func (m *message) text(field protowire.Number, v string) {
	*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), v)
}

func (m *message) sub(field protowire.Number, v message) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), v)
}
