package device

// Place tells a device from the others of its host, and how ranks get on that use the same one or cannot reach each other's.
type Place struct {
	ID     string   // of the hardware: its UUID; "" for an emulated device, which is its rank's own and reaches all others
	Apart  []string // the IDs of devices whose memory is known not to be mappable here
	Beside bool     // the kernels of ranks that share the hardware run side by side; otherwise they take turns
}
