package lock

import (
	"slices"
	"testing"
	"time"
)

const lease = 30 * time.Second

func TestScenario(t *testing.T) {
	for _, c := range slices.Concat(endings, renewals, wins, bodies, views) {
		c.run(t)
	}
}

// endings are attempts, ends of leases, releases and losses.
var endings = []scenario{
	{"attempts beside the flight", Params{}, `
		10s begin => entered pending=1
		11s begin a => age=1s pending=2
		12s begin b => age=2s pending=3
		13s begin c => age=3s pending=4
		14s fail contended by=b => age=4s failed=contended:1 pending=3 took=1/2
		15s fail contended by=b => age=5s
		16s fail timeout by=c => age=6s failed=contended:1,timeout:1 pending=2 took=2/5
		17s fail backend_error by=a => age=7s failed=contended:1,timeout:1,backend_error:1 pending=1 took=3/11
		18s fail contended => failed=contended:2,timeout:1,backend_error:1 took=4/19 age=- pending=-
		19s fail contended
		20s refused contended => failed=contended:3,timeout:1,backend_error:1 took=5/19
		20s begin => entered pending=1
		21s fail canceled => failed=contended:3,timeout:1,canceled:1,backend_error:1 took=6/20 pending=-
		22s begin d => pending=1
		23s fail unknown by=d => failed=contended:3,timeout:1,canceled:1,backend_error:1,unknown:1 took=7/21 pending=-
	`},
	{"the last attempt beside the flight is the first to end", Params{}, `
		10s begin a => pending=1
		11s begin b => age=1s pending=2
		12s begin c => age=2s pending=3
		13s fail contended by=c => age=3s failed=contended:1 pending=2 took=1/1
		14s fail contended by=a => failed=contended:2 pending=1 took=2/5
		15s fail contended by=b => failed=contended:3 took=3/9 age=- pending=-
	`},
	{"an attempt beside the flight wins", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		11s begin a => age=1s pending=2
		12s win x by=a token=7 => acquired=1 active=1 age=2s expiry=41 left=29s pending=1 token=7 took=1/1 won=12 x=held x.active=true x.end=41s
		13s win y token=8 => acquired=2 active=2 expiry=40 left=27s token=8 took=2/4 won=13 y=held y.active=true y.end=40s age=- pending=-
		14s release x ok => ended active=1 ended=14 gave=ok:1 left=26s over=released:1 ran=1/2 used=1/0.1 x=released x.freed=true x.active=-
		15s release y ok => ended ended=15 gave=ok:2 over=released:2 ran=2/4 used=2/0.266667 y=released y.freed=true active=- expiry=- left=- y.active=-
	`},
	{"an idle lock lets no attempt enter until it is resumed", Params{}, `
		10s idle => idle
		10s idle => idle
		11s begin => not-entered
		11s resume
		11s begin => entered pending=1
		12s idle => not-idle age=1s
		12s resume
		13s begin => not-entered age=2s
		14s fail contended => failed=contended:1 took=1/3 age=- pending=-
		15s begin a => pending=1
		15s idle => not-idle
		16s fail contended by=a => failed=contended:2 took=2/4 pending=-
		16s idle => idle
		17s resume
		18s begin => entered pending=1
	`},
	{"a lock is busy while a term is open or a body runs", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		11s idle => not-idle left=29s
		11s body a x => a.bodies=1 running=1
		12s release a ok => ended a=released a.freed=true ended=12 gave=ok:1 over=released:1 used=1/0.0666667 a.active=- active=- expiry=- left=-
		13s idle => not-idle afterloss=1s
		14s done a x => afterloss=2s ran=1/3 a.bodies=- running=-
		14s idle => idle
	`},
	{"a lapsed term leaves its lock idle", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a owned => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		40s idle => idle a=lapsed a.told=1 ended=40 over=expired:1 a.active=- active=- expiry=- left=-
		40s idle => idle
	`},
	{"the instant at which a lease ends is behind the lease", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		39999ms look-on => left=1ms
		39999ms ends => active 40s
		40s look-on => a=lapsed ended=40 over=expired:1 a.active=- active=- expiry=- left=-
		40s ends => not-active
		41s held a => 30s
		50s release a ok => ended a.freed=true gave=ok:1 overran=1 ran=1/40 unlogged=1 used=1/1.33333
		60s release a ok => not-ended
	`},
	{"an owner is told once that the lease has ended its term", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a owned => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		39s look-on => left=1s
		40s look-on => a=lapsed a.told=1 ended=40 over=expired:1 a.active=- active=- expiry=- left=-
		41s look-on
		42s lost a reported => ended a=expired
		43s lost a reported => not-ended
	`},
	{"a lapsed term is lost without its owner", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		41s lost a gone => ended a=expired ended=40 over=expired:1 a.active=- active=- expiry=- left=-
	`},
	{"a release that comes late tells how long the work ran", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a owned => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		45s release a ok => ended a=lapsed a.freed=true a.told=1 ended=40 gave=ok:1 over=expired:1 overran=1 ran=1/35 unlogged=1 used=1/1.16667 a.active=- active=- expiry=- left=-
		46s release a ok => not-ended
	`},
	{"a release that comes with the lease's end is an expiry, and no overrun", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		40s stop a => stopped a=stopped a.active=- active=- expiry=- left=-
		40s released a ok => ended a=expired a.freed=true ended=40 gave=ok:1 over=expired:1 ran=1/30 used=1/1
	`},
	{"a release beyond the end of a lease that could be renewed is an overrun", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		40s look-on => ended=40 left=0s a.active=- active=-
		41s release a ok => ended a=expired a.freed=true gave=ok:1 over=expired:1 overran=1 ran=1/31 unlogged=1 used=1/1.03333 expiry=- left=-
	`},
	{"a stop ahead of the end is in time, whenever its answer comes", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		39s stop a => stopped a=stopped a.active=- active=- expiry=- left=-
		39s stop a => not-stopped
		39s ends => not-active
		39s held a => 29s
		45s look-on
		45s held a => 29s
		45s released a ok => ended a=released a.freed=true ended=39 gave=ok:1 over=released:1 ran=1/29 used=1/0.966667
	`},
	{"a lock that can be renewed has one more lease length for a late renewal", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		40s look-on => ended=40 left=0s a.active=- active=-
		69999ms look-on => left=-29.999s
		70s look-on => a=lapsed over=expired:1 expiry=- left=-
		71s renew a ok sent=71s length=30s => recorded a=held a.active=true a.end=1m41s acquired=2 active=1 asked=1/0 expiry=101 left=30s renewed=ok:1 took=2/0 won=71
		72s held a => 1s left=29s
		72s release a ok => ended a=released a.freed=true ended=72 gave=ok:1 over=released:1,expired:1 ran=1/1 used=1/0.0333333 a.active=- active=- expiry=- left=-
	`},
	{"a renewal that was seen makes the lapse an overrun", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s renew a ok sent=20s => recorded a.end=50s asked=1/0 expiry=50 renewed=ok:1 used=1/0.333333
		49s look-on => left=1s
		50s look-on => ended=50 left=0s a.active=- active=-
		79s look-on => left=-29s overran=1 unlogged=1
		80s look-on => a=lapsed over=expired:1 expiry=- left=-
	`},
	{"a renewal under way keeps the term open", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a renews => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		39s sending a => left=1s
		40s look-on => ended=40 left=0s a.active=- active=-
		75s look-on => left=-35s overran=1 unlogged=1
		76s renew a ok sent=39s => recorded a.end=1m9s asked=1/37 ended=69 expiry=69 left=-7s renewed=ok:1 used=1/2.2
		76s answered a
		80s look-on => left=-11s
		81s release a ok => ended a=expired a.freed=true gave=ok:1 over=expired:1 ran=1/71 used=2/3.6 expiry=- left=-
	`},
	{"a renewal under way that fails lets the term lapse", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a renews => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		39s sending a => left=1s
		75s renew a error sent=39s => recorded asked=1/36 ended=40 left=-35s overran=1 renewed=error:1 unlogged=1 a.active=- active=-
		75s answered a => a=lapsed over=expired:1 expiry=- left=-
	`},
	{"a lock that is left to its lease is no overrun", Params{Lease: lease, KeepUntilExpiry: true}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 took=1/0 won=10 pending=-
		12s ends => active 40s
		40s look-on => a=lapsed ended=40 over=expired:1 a.active=- active=- expiry=-
		41s release a ok => ended a.freed=true gave=ok:1 ran=1/31 used=1/1.03333
	`},
	{"a lock that is left to its lease, with a body", Params{Lease: lease, KeepUntilExpiry: true}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 took=1/0 won=10 pending=-
		12s body a x => a.bodies=1 left=28s running=1
		15s look-on => left=25s
		20s done a x => ran=1/8 a.bodies=- left=- running=-
		21s look-on
		30s body a y => a.bodies=1 left=10s running=1
		41s look-on => afterloss=1s ended=40 left=-1s overran=1 unlogged=1 a.active=- active=-
		42s done a y => a=lapsed afterloss=2s over=expired:1 ran=2/20 a.bodies=- expiry=- left=- running=-
		43s look-on
	`},
	{"a lock that is left to its lease is released late", Params{Lease: lease, KeepUntilExpiry: true}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 took=1/0 won=10 pending=-
		20s body a x => a.bodies=1 left=20s running=1
		41s done a x => a=lapsed afterloss=1s ended=40 over=expired:1 overran=1 ran=1/21 unlogged=1 a.active=- a.bodies=- active=- expiry=- left=- running=-
		45s release a ok => ended a.freed=true gave=ok:1 used=1/1.16667
	`},
	{"a held leadership that is left to its lease", Params{Lease: lease, Hold: true, KeepUntilExpiry: true}, `
		10s begin => entered lease=30s pending=1
		10s win a renews => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 took=1/0 won=10 pending=-
		20s renew a ok sent=20s => recorded a.end=50s asked=1/0 expiry=50 renewed=ok:1 used=1/0.333333
		21s body a x => a.bodies=1 left=29s running=1
		30s done a x => ran=1/9 a.bodies=- left=- running=-
		50s look-on => a=lapsed ended=50 over=expired:1 a.active=- active=- expiry=-
		60s renew a ok sent=60s => recorded a=held a.active=true a.end=1m30s acquired=2 active=1 asked=2/0 expiry=90 renewed=ok:2 took=2/0 won=60
	`},
	{"a held leadership that is left to its lease, with a body beyond it", Params{Lease: lease, Hold: true, KeepUntilExpiry: true}, `
		10s begin => entered lease=30s pending=1
		10s win a renews => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 took=1/0 won=10 pending=-
		21s body a x => a.bodies=1 left=19s running=1
		45s done a x => a=lapsed afterloss=5s ended=40 over=expired:1 overran=1 ran=1/24 unlogged=1 a.active=- a.bodies=- active=- expiry=- left=- running=-
	`},
	{"a held leadership that is left to a lease whose end is unknown", Params{Lease: lease, Hold: true, KeepUntilExpiry: true}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		90s begin => entered pending=1
		90s win b => ends-a a=expired acquired=2 b=held b.active=true ended=90 over=expired:1 ran=1/80 took=2/0 won=90 a.active=- pending=-
	`},
	{"a lock that is left to a lease of unknown end is over with the next win", Params{KeepUntilExpiry: true}, `
		10s begin => entered pending=1
		10s win a => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		20s begin => entered pending=1
		20s win b => ends-a a=expired acquired=2 b=held b.active=true ended=20 over=expired:1 ran=1/10 took=2/0 won=20 a.active=- pending=-
		21s body b x => b.bodies=1 running=1
		30s begin => entered pending=1
		30s win c => acquired=3 active=2 c=held c.active=true took=3/0 won=30 pending=-
	`},
	{"a release that fails keeps the lock until a later one succeeds", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s release a error => ended a=release_failed ended=20 gave=error:1 over=release_failed:1 ran=1/10 used=1/0.333333 a.active=- active=- expiry=- left=-
		25s release a error => not-ended gave=error:2
		26s release a ok => not-ended a.freed=true gave=ok:1,error:2
		27s release a ok => not-ended
	`},
	{"a release that finds another owner", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s release a not_owner => ended a=lost ended=20 gave=not_owner:1 over=lost:1 ran=1/10 used=1/0.333333 a.active=- active=- expiry=- left=-
		21s release a ok => not-ended a.freed=true
	`},
	{"a release of another's that came first freed the lock", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s stop a => stopped a=stopped a.active=- active=- expiry=- left=-
		20s release a ok => not-ended a.freed=true gave=ok:1
		21s released a not_owner => ended a=released ended=20 over=released:1 ran=1/10 used=1/0.333333
	`},
	{"a release that failed lets the body work on under the lease", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		12s body a x => a.bodies=1 left=28s running=1
		20s release a error => ended a=release_failed ended=20 gave=error:1 over=release_failed:1 used=1/0.333333 a.active=- active=- expiry=- left=-
		25s look-on => afterloss=5s
		39s look-on => afterloss=19s
		42s look-on => afterloss=22s overran=1 unlogged=1
		45s done a x => afterloss=25s ran=1/33 a.bodies=- running=-
	`},
	{"a lost term is covered by its lease until a release frees the lock", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		12s body a x => a.bodies=1 left=28s running=1
		20s lost a reported => ended a=lost ended=20 over=lost:1 a.active=- active=- expiry=- left=-
		25s release a error => not-ended gave=error:1
		26s release a ok => not-ended a.freed=true gave=ok:1,error:1
		30s done a x => afterloss=4s ran=1/18 a.bodies=- running=-
	`},
	{"a lost term is covered until a release finds another owner", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		12s body a x => a.bodies=1 left=28s running=1
		20s lost a reported => ended a=lost ended=20 over=lost:1 a.active=- active=- expiry=- left=-
		26s release a not_owner => not-ended gave=not_owner:1
		27s release a ok => not-ended a.freed=true afterloss=1s
		30s done a x => afterloss=4s ran=1/18 a.bodies=- running=-
	`},
	{"a lock that is gone protects no body", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		12s body a x => a.bodies=1 left=28s running=1
		12s body a y => a.bodies=2 running=2
		20s lost a gone => ended a=lost ended=20 over=lost:1 a.active=- active=- expiry=- left=-
		21s lost a gone => not-ended afterloss=2s
		22s done a x panic => a.bodies=1 afterloss=4s broke=panic:1 ran=1/10 running=1
		23s done a y => afterloss=5s ran=2/21 a.bodies=- running=-
	`},
	{"a loss that was reported keeps others out until the lease ends", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		12s body a x => a.bodies=1 left=28s running=1
		20s lost a reported => ended a=lost ended=20 over=lost:1 a.active=- active=- expiry=- left=-
		41s look-on => afterloss=1s overran=1 unlogged=1
		42s done a x error => afterloss=2s broke=error:1 ran=1/30 a.bodies=- running=-
	`},
	{"an elector that gave up while the lease ran", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s lost a gave-up => ended a=gave_up ended=20 over=gave_up:1 ran=1/10 a.active=- active=- expiry=- left=-
	`},
	{"an elector that gave up at the end of the lease", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a renews => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s renew a ok sent=20s => recorded a.end=50s asked=1/0 expiry=50 renewed=ok:1 used=1/0.333333
		50s lost a gave-up => ended a=lost ended=50 over=lost:1 ran=1/40 a.active=- active=- expiry=- left=-
	`},
	{"an elector that gave up a lease of unknown end", Params{Hold: true}, `
		10s begin => entered pending=1
		10s win a => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		20s lost a gave-up => ended a=lost ended=20 over=lost:1 ran=1/10 a.active=- active=-
	`},
	{"an elector that was stopped", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		12s body a x => a.bodies=1 left=28s running=1
		20s lost a stopped => ended a=canceled ended=20 over=canceled:1 a.active=- active=- expiry=- left=-
		30s look-on
		41s done a x => afterloss=1s overran=1 ran=1/29 unlogged=1 a.bodies=- running=-
	`},
	{"an elector that was stopped, and the lock is gone", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		12s body a x => a.bodies=1 left=28s running=1
		20s lost a stopped-and-gone => ended a=canceled ended=20 over=canceled:1 a.active=- active=- expiry=- left=-
		30s done a x => afterloss=10s ran=1/18 a.bodies=- running=-
	`},
	{"a loss during a release is the release's", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s stop a => stopped a=stopped a.active=- active=- expiry=- left=-
		21s lost a gone => not-ended
		22s released a ok => ended a=released a.freed=true ended=20 gave=ok:1 over=released:1 ran=1/10 used=1/0.333333
	`},
}
