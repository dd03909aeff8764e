package controller

import "github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"

// Token takes the user's secret from SYMMREPL_TOKEN, or reads the user's file. It is an error if
// there is none, or if it can be guessed.
func Token() (string, error) { return rendezvous.Token() }
