package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// prometheusYAML is the configuration of this observer, and, with a file of
// targets, of a real Prometheus that is to see the same: 1 s between scrapes, 1 s
// between evaluations. The observer is told its targets; every job is there from
// the start.
func prometheusYAML(rulesFile, targetsFile string) string {
	var y strings.Builder
	fmt.Fprintf(&y, "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n", rulesFile)
	if targetsFile != "" {
		// The file names the job of each target.
		fmt.Fprintf(&y, "- job_name: %s\n  file_sd_configs:\n  - files: [%q]\n", jobName, targetsFile)
		return y.String()
	}
	for _, job := range []string{outsideName, storeName, jobName} {
		fmt.Fprintf(&y, "- job_name: %s\n  static_configs:\n  - targets: []\n", job)
	}
	return y.String()
}

// targetsJSON lists the replicas, by name, and the other programs, by job, for
// the service discovery by file of a Prometheus.
func targetsJSON(replicas, others map[string]string) []byte {
	type group struct {
		Targets []string          `json:"targets"`
		Labels  map[string]string `json:"labels"`
	}
	groups := []group{}
	add := func(job, instance, address string) {
		groups = append(groups, group{[]string{address}, map[string]string{"job": job, "instance": instance}})
	}
	for _, name := range sortedNames(replicas) {
		add(jobName, name, replicas[name])
	}
	for _, job := range sortedNames(others) {
		add(job, job, others[job])
	}
	text, _ := json.MarshalIndent(groups, "", "  ") // strings always marshal
	return append(text, '\n')
}

// writeWhole replaces a file at once: a reader finds the old content or the
// new one, and never a part.
func writeWhole(file string, content []byte, mode os.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(content)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(f.Name(), mode)
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	return err
}
