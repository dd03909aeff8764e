package device

// BoundsChecker is a Device that can detect accesses out of bounds, but no other wrong accesses:
// see Sanitizer.
type BoundsChecker interface {
	Device

	// CompileChecked compiles a text that Compile accepted with pointers that know their bounds:
	// those of symm::Handle, and parameters with Param.Checked. An access out of bounds is reported
	// in Watch.Outside. A *CompileError says that the text uses a pointer in a way that only plain
	// pointers support.
	CompileChecked(Source) (Module, error)
}
