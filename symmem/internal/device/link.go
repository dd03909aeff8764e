package device

// Linked is a device that reaches the other devices of its host through links instead of a medium
// shared by all.
type Linked interface {
	// Links returns the ID of this device and its links to every other one of the host, in the
	// host's order.
	Links() (id string, links []Link, err error)
}

// Link connects a device with another one of its host.
type Link struct {
	Index int     // of the other device on the host
	Name  string  // of the other device: "NVIDIA H200"
	ID    string  // of the other device: its UUID
	Kind  string  // "NV18" for 18 NVLinks, else the nearest common place: "PIX", "PXB", "PHB", "NODE", "SYS"
	Rate  float64 // GB/s each way as specified; 0 when not over NVLink
}
