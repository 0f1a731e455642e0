package main

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/campaigner"
)

func main() {}

func campaign(e *instrument.Election, elector campaigner.Candidate) *campaigner.Campaigner {
	return LINE
}
