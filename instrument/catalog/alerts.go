package catalog

// SingleLockAlerts are the per-lock alerts, which exclude labels that several locks
// share. A test of package alerts compares its rules with this list.
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
