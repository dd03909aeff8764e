package device

// BoundsChecker is a Device that knows no more of accesses than whether they leave what the kernel was given: see Sanitizer.
type BoundsChecker interface {
	Device

	// CompileChecked is Compile of a text that Compile accepted, with pointers that know their extents: those of symm::Handle, and of parameters, which
	// Param.Checked tells. An access outside of one appears in Watch.Outside. A *CompileError says that the text does something with a pointer that only a plain one can be used for.
	CompileChecked(Source) (Module, error)
}
