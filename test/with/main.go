// Command with runs a command while servers run:
//
//	with redis postgres -- go test -tags integration ./...
//
// The command finds them by LEADERSCOPE_REDIS=127.0.0.1:port and so on. A
// server that is not available here is left out, and a line says so.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/leaderscope/leaderscope/test/server"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "with:", err)
		code = 1
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	cut := slices.Index(args, "--")
	if cut < 0 || cut == len(args)-1 {
		return 0, fmt.Errorf("usage: with SERVER... -- COMMAND...; servers are %v", server.Names())
	}
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGINT, syscall.SIGTERM)
	environment := os.Environ()
	for _, name := range args[:cut] {
		s, err := server.Start(name)
		if errors.Is(err, server.ErrMissing) {
			fmt.Printf("SKIPPED %s: %v\n", name, err)
			continue
		}
		if err != nil {
			return 0, err
		}
		defer s.Close()
		environment = append(environment, variable(name)+"="+locator(name, s.Addresses()[0]))
	}
	cmd := exec.Command(args[cut+1], args[cut+2:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environment, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		for s := range stopped {
			_ = cmd.Process.Signal(s)
		}
	}()
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func variable(name string) string {
	if name == "dynalite" {
		name = "dynamodb" // which it stands for
	}
	return "LEADERSCOPE_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// locator is what the server's drivers take.
func locator(name, address string) string {
	switch name {
	case "postgres":
		return "postgres://postgres@" + address + "/postgres"
	case "pgbouncer":
		return "postgres://postgres@" + address + "/postgres?default_query_exec_mode=simple_protocol"
	case "mariadb":
		return "root@tcp(" + address + ")/"
	case "nats":
		return "nats://" + address
	case "dynalite":
		return "http://" + address
	default:
		return address
	}
}
