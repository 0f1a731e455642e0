package main

import (
	"github.com/go-co-op/gocron/v2"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/gocronlead"
)

func main() {}

func schedule(m *instrument.Middleware, locker gocron.Locker) (gocron.Scheduler, error) {
	return LINE
}
