// Package generics holds the generic functions and types of the standard library as Go source.
// Symbol tables contain values, and a generic declaration has no value before it is instantiated.
// So cells use these sources, instantiated for their type arguments.
//
// The folder <import path> extends the package of that path with exactly those declarations that
// the package's table cannot have. Each folder is also an ordinary package, and is tested as such
// against the standard library. A file may import the package that its folder extends, and then
// uses the package's table (sync's OnceValue uses sync.Once).
//
// The sources are easy to interpret: they have no package-level variables, init functions, build
// constraints, unsafe code or embedding. Code that must be compiled is in package compiled, which
// has a symbol table.
//
// The most used functions also have compiled instances for basic types: see Native.
package generics
