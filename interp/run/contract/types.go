package contract

import "go/types"

// Replacement is a function or method that is defined again. Its earlier callers refer to old,
// which gets the contents of fresh.
type Replacement struct {
	Type       string // for a method: the type's name in yaegi
	Old, Fresh string
}

// InFunction describes a type that a function declares.
type InFunction struct {
	Number int          // number among the types that functions of the package declare, 0 if unknown
	Args   []types.Type // type arguments of the function
}

// Recursive is a type that contains itself.
type Recursive struct {
	Type       *types.Named
	Symbol     string // the type's name in the package HiddenPath
	Underlying string // the name in yaegi of an alias of the underlying type
}
