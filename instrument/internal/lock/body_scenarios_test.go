package lock

// bodies are work under a lease and beyond it, and what a forgotten lock does.
var bodies = []scenario{
	{"bodies that overrun their lease work after loss", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		12s body a x => a.bodies=1 left=28s running=1
		20s body a y => a.bodies=2 left=20s running=2
		40s look-on => ended=40 left=0s a.active=- active=-
		41s look-on => afterloss=2s left=-1s overran=1 unlogged=1
		43s done a x error => a.bodies=1 afterloss=6s broke=error:1 left=-3s ran=1/31 running=1
		44s body a z => a.bodies=2 afterloss=7s left=-4s running=2
		45s release a ok => ended a=expired a.freed=true afterloss=9s gave=ok:1 over=expired:1 used=1/1.16667 expiry=- left=-
		46s done a y panic => a.bodies=1 afterloss=11s broke=error:1,panic:1 ran=2/57 running=1
		48s done a z => afterloss=13s ran=3/61 a.bodies=- running=-
	`},
	{"a body that starts after the end works after loss from its start", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s release a ok => ended a=released a.freed=true ended=20 gave=ok:1 over=released:1 ran=1/10 used=1/0.333333 a.active=- active=- expiry=- left=-
		25s body a x => a.bodies=1 running=1
		30s done a x => afterloss=5s ran=2/15 a.bodies=- running=-
	`},
	{"a body under a lapsed term", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a owned => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		41s look-on => a=lapsed a.told=1 ended=40 over=expired:1 a.active=- active=- expiry=- left=-
		42s body a x => a.bodies=1 overran=1 running=1 unlogged=1
		43s look-on => afterloss=1s
		45s release a ok => ended a.freed=true afterloss=3s gave=ok:1 used=1/1.16667
		47s done a x => afterloss=5s ran=1/5 a.bodies=- running=-
		50s begin => entered pending=1
		50s win b => acquired=2 active=1 b=held b.active=true b.end=1m20s expiry=80 left=30s took=2/0 won=50 pending=-
	`},
	{"a body under a lapsed term ends before the release", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a owned => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		41s look-on => a=lapsed a.told=1 ended=40 over=expired:1 a.active=- active=- expiry=- left=-
		42s body a x => a.bodies=1 overran=1 running=1 unlogged=1
		45s done a x => afterloss=3s ran=1/3 a.bodies=- running=-
		46s begin => entered pending=1
		46s win b => ends-a acquired=2 active=1 b=held b.active=true b.end=1m16s expiry=76 left=30s took=2/0 won=46 pending=-
		47s release a ok => ended a.freed=true gave=ok:1 left=29s used=1/1.23333
	`},
	{"a body that still runs does not have its term ended by each win", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a owned => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		41s look-on => a=lapsed a.told=1 ended=40 over=expired:1 a.active=- active=- expiry=- left=-
		42s body a x => a.bodies=1 overran=1 running=1 unlogged=1
		50s begin => entered afterloss=8s pending=1
		50s win b may-renew owned => ends-a acquired=2 active=1 b=held b.active=true b.end=1m20s expiry=80 left=30s took=2/0 won=50 pending=-
		81s begin => entered afterloss=39s ended=80 left=-1s pending=1 active=- b.active=-
		81s win c may-renew => ends-b acquired=3 active=1 b=expired c=held c.active=true c.end=1m51s expiry=111 left=30s over=expired:2 ran=1/30 took=3/0 won=81 pending=-
		82s done a x => afterloss=40s left=29s ran=2/70 a.bodies=- running=-
		112s begin => entered ended=111 left=-1s pending=1 active=- c.active=-
		112s win d => ends-c acquired=4 active=1 c=expired d=held d.active=true d.end=2m22s expiry=142 left=30s over=expired:3 ran=3/100 took=4/0 won=112 pending=-
	`},
	{"work that was released in time and goes on past the lease", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		12s body a x => a.bodies=1 left=28s running=1
		20s stop a => stopped a=stopped a.active=- active=- expiry=- left=-
		41s look-on => afterloss=21s
		42s released a ok => ended a=released a.freed=true afterloss=22s ended=20 gave=ok:1 over=released:1 used=1/0.333333
		43s done a x => afterloss=23s ran=1/31 a.bodies=- running=-
	`},
	{"a lock that is forgotten abandons what is open", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		11s begin k => age=1s pending=2
		12s begin m => age=2s pending=3
		13s win a by=k owned => a=held a.active=true a.end=41s acquired=1 active=1 age=3s expiry=41 left=28s pending=2 took=1/2 won=13
		14s begin n => age=4s left=27s pending=3
		15s body a x => a.bodies=1 age=5s left=26s running=1
		16s retire => retired a=unrecorded ended=16 failed=unknown:3 over=abandoned:1 took=4/14 active=- age=- expiry=- left=- pending=- running=-
		17s fail contended
		17s fail contended by=m
		18s begin => not-entered
		18s begin o
		19s fail contended by=o
		20s done a x error => a.bodies=-
		21s refused contended
		22s renew a ok sent=22s => recorded a.end=52s
		23s fence a 3
		24s release a ok => ended a=released a.freed=true a.active=-
		25s win b since=25s => b=unrecorded b.active=true b.end=55s
		26s body b y => b.bodies=1
		27s done b y => b.bodies=-
		28s lost b gone => ended b=lost b.active=-
	`},
	{"a forgotten lock whose terms had ended", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a owned => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s begin => entered left=20s pending=1
		20s win b => acquired=2 active=2 b=held b.active=true b.end=50s took=2/0 won=20 pending=-
		21s body b x => b.bodies=1 left=19s running=1
		22s release b ok => ended active=1 b=released b.freed=true ended=22 gave=ok:1 left=18s over=released:1 used=1/0.0666667 b.active=-
		45s retire => retired a=lapsed a.told=1 afterloss=23s ended=40 over=released:1,expired:1 a.active=- active=- expiry=- left=- running=-
		46s renew a ok sent=45s => recorded a=unrecorded a.active=true a.end=1m15s
		46s renew a lost sent=45s => recorded ended a=lost a.active=-
	`},
	{"a forgotten lock whose end has passed", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		45s retire => retired a=unrecorded ended=40 over=abandoned:1 a.active=- active=- expiry=- left=-
		46s release a ok => ended a=expired a.freed=true
	`},
	{"a forgotten lock forgets what it observed", Params{}, `
		10s begin => entered pending=1
		10s win a observed end=40s => a=held a.active=true a.end=40s a.observed=true acquired=1 active=1 expiry=40 left=30s seen=true took=1/0 won=10 pending=-
		11s look asked=11s end=41s => a.end=41s expiry=41 renewed=ok:1
		20s retire => retired a=unrecorded ended=20 over=abandoned:1 a.observed=- active=- expiry=- left=-
	`},
	{"totals that are drained begin at zero", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s release a ok => ended a=released a.freed=true ended=20 gave=ok:1 over=released:1 ran=1/10 used=1/0.333333 a.active=- active=- expiry=- left=-
		21s drain => acquired=- gave=- over=- ran=- took=- used=-
		30s begin => entered pending=1
		30s win b => acquired=1 active=1 b=held b.active=true b.end=1m0s expiry=60 left=30s took=1/0 won=30 pending=-
	`},
}
