// Package generics holds the generic functions and types of the standard library as Go source. Symbol tables hold values, and a generic
// declaration has none before it is instantiated; so cells get these from source, instantiated for the type arguments they use.
//
// The folder <import path> extends the package of that path: it has what the package's table cannot have and nothing else. Each
// folder is an ordinary package too, and is tested against the standard library as such. A file may import the package that its folder
// extends; that means the package's table (sync's OnceValue uses sync.Once).
//
// The sources keep to what is simple to interpret: there are no variables at package level, no init functions, no build constraints,
// no unsafe and no embedding. What must be compiled is in the package compiled, which the symbol tables have.
//
// For the most used functions over basic types there are compiled instances besides: see Native.
package generics
