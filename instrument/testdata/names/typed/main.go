package main

import "github.com/leaderscope/leaderscope/instrument"

const name string = "tenant"

func main() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	m.Election(name)
	m.Election("written here")
}
