package device

// Place identifies a device on its host. It says how ranks that use the same device share it, and
// which other devices they cannot access.
type Place struct {
	// of the hardware: its UUID; "" for an emulated device, which belongs to one rank and can
	// access all others
	ID    string
	Apart []string // the IDs of devices whose memory is known not to be mappable here
	// kernels of ranks that share the hardware run concurrently; otherwise they take turns
	Beside bool
	// the NVLink fabric whose devices can map each other's memory even between hosts, or ""
	Fabric string
}

// FabricDevice is a Device that may be on a fabric, and FabricSegment one of its segments. A token
// represents a segment like a descriptor, and can be sent to other hosts.
type FabricDevice interface {
	Device
	// ImportToken maps a segment of n bytes (the owner's Segment.Size) that another process of the
	// fabric exported as a token.
	ImportToken(token []byte, n int) (Segment, error)
}

type FabricSegment interface {
	Segment
	Token() ([]byte, error)
}
