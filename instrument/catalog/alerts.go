package catalog

// SingleLockAlerts are the alerts that judge one lock by its label, and leave
// out labels that several locks share. Package alerts holds its rules to this
// list.
func SingleLockAlerts() []string {
	return []string{
		"LeaderElectionNoLeader",
		"LeaderElectionSplitBrain",
		"LeaderElectionOverlap",
		"LeaderElectionFlapping",
		"LeaderElectionLowHeadroom",
		"LeaderElectionJobOverdue",
		"LeaderElectionTokenRegressed",
		"LeaderElectionNoStandby",
		"LeaderElectionAttemptStuck",
		"LeaderElectionVacant",
		"LeaderElectionImpostor",
		"LeaderElectionLockVanished",
	}
}
