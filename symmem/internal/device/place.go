package device

// Place tells a device from the others of its host, and how ranks get on that use the same one or cannot reach each other's.
type Place struct {
	ID     string   // of the hardware: its UUID; "" for an emulated device, which is its rank's own and reaches all others
	Apart  []string // the IDs of devices whose memory is known not to be mappable here
	Beside bool     // the kernels of ranks that share the hardware run side by side; otherwise they take turns
	Fabric string   // the NVLink fabric whose devices map each other's memory also between hosts; "" if it is on none
}

// FabricDevice is a Device that may be on a fabric, and FabricSegment one of its segments if it is. A token stands for a segment as a
// descriptor does, and can be sent to other hosts.
type FabricDevice interface {
	Device
	// ImportToken maps a segment of n bytes (the owner's Segment.Size) that another process of the fabric gave out.
	ImportToken(token []byte, n int) (Segment, error)
}

type FabricSegment interface {
	Segment
	Token() ([]byte, error)
}
