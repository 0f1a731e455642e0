//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// binaryVariable is where a kube-apiserver is, instead of --kube-apiserver.
const binaryVariable = "KUBE_APISERVER"

// errNoServer says how to have one. KUBECONFIG is not looked at: a show should
// not write to a cluster that nobody named.
var errNoServer = errors.New("no Kubernetes API server: name a cluster with --kubeconfig FILE, or a kube-apiserver to start with " +
	"--kube-apiserver FILE or " + binaryVariable + " (scripts/build-kube-apiserver v1.37.2 DIR builds one)")

// The kernel kills a child when the thread that started it ends; this one
// lasts as long as the process.
func init() { runtime.LockOSThread() }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "k8s-lease:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	klog.SetLogger(klog.Logger{}) // the show has its own words
	if isNode, err := runCopy(ctx); isNode {
		return err
	}
	o, keep, err := parseFlags(os.Args[1:], os.Getenv(binaryVariable), os.Stderr)
	if err != nil {
		return err
	}
	return play(ctx, o, os.Stdout, keep)
}

// parseFlags reads the command line; binary is what the environment says.
func parseFlags(args []string, binary string, out io.Writer) (o options, keep bool, err error) {
	flags := flag.NewFlagSet("k8s-lease", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "a cluster to use; a Lease is made there and removed at the end")
	flags.StringVar(&o.binary, "kube-apiserver", binary, "a kube-apiserver to start; default $"+binaryVariable)
	flags.StringVar(&o.namespace, "namespace", metav1.NamespaceDefault, "where the Lease is made")
	flags.BoolVar(&keep, "keep", false, "leave the nodes running at the end, for a look at their /metrics")
	if err := flags.Parse(args); err != nil {
		return o, false, err
	}
	switch {
	case flags.NArg() > 0:
		return o, false, fmt.Errorf("%q: no arguments are taken, only flags; -help lists them", flags.Arg(0))
	case o.kubeconfig != "":
		o.binary = ""
	case o.binary == "":
		return o, false, errNoServer
	default:
		if _, err := exec.LookPath(o.binary); err != nil {
			return o, false, fmt.Errorf("--kube-apiserver %s is no program that can be run: %w", o.binary, errors.Unwrap(err))
		}
	}
	return o, keep, nil
}

// runCopy is the node for which a parent started this process; isNode is false
// when there is none.
func runCopy(ctx context.Context) (isNode bool, err error) {
	text := os.Getenv(nodeVariable)
	if text == "" {
		return false, nil
	}
	var cfg nodeConfig
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		return true, err
	}
	return true, runNode(ctx, cfg, os.Stdin, os.Stdout)
}
