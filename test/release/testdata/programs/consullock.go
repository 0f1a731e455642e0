package main

import (
	"context"

	"github.com/hashicorp/consul/api"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/consullock"
)

func main() {}

func lead(ctx context.Context, e *instrument.Election, client *api.Client, sessions *consullock.Sessions, work func(context.Context, *instrument.Term) error) error {
	return LINE
}
