package ras

import (
	"encoding/json"
	"fmt"
)

// Status is RAS's report on all communicators.
type Status struct {
	Version       string         `json:"nccl_version"`
	Communicators []Communicator `json:"communicators"`
}

// Communicator is one of them. Its identity is Hash and Second together.
type Communicator struct {
	Hash    string    `json:"hash"`
	Second  string    `json:"secondary_hash"`
	Size    int       `json:"size"`
	Ranks   []Rank    `json:"ranks"`
	Missing []Missing `json:"missing_ranks"` // ranks of which RAS has learnt nothing
}

// Rank is a rank of a communicator that answered.
type Rank struct {
	Member
	Status struct {
		Init     int  `json:"init_state"`
		Error    int  `json:"async_error"`
		Finalize bool `json:"finalize_called"`
		Destroy  bool `json:"destroy_flag"`
		Abort    bool `json:"abort_flag"`
	} `json:"status"`
	// Counts has for each kind of collective, such as "AllReduce", how many the rank has begun.
	Counts map[string]uint64 `json:"collective_counts"`
}

// Missing is a rank of a communicator that did not answer.
type Missing struct {
	Member
	Status struct {
		Unresponsive bool `json:"unresponsive"`
		Dead         bool `json:"considered_dead"`
	} `json:"status"`
}

// Member identifies a rank of a communicator: its number there, and its process.
type Member struct {
	Rank int    `json:"rank"`
	Host string `json:"host"` // an address
	PID  int    `json:"pid"`  // -1 if it is not known
}

// Parse reads an answer of RAS in JSON.
func Parse(data []byte) (*Status, error) {
	var s Status
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("ras: the answer cannot be read: %w", err)
	}
	if s.Version == "" {
		return nil, fmt.Errorf("ras: the answer names no version of NCCL: %.80q", data)
	}
	return &s, nil
}
