package cpu

// Compiler returns the path of the C++ compiler that snippets are compiled by, or an *device.UnavailableError.
func Compiler() (string, error) {
	var c compiler
	err := c.find()
	return c.path, err
}
