package engine

import (
	"net"
	"strconv"
	"time"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/primitives"
)

const (
	clusterName = "active"
	storeName   = "sqlite"
	loopback    = "127.0.0.1"

	// queueWorkers is how many tasks of a queue the one shard works on at once.
	queueWorkers = 64
)

const (
	// lostTask is when a workflow task is repeated that was lost with its worker, unless
	// the workflow says otherwise. The server's own workflows, which fire schedules, do not.
	lostTask = 5 * time.Second
	// lostAgain bounds what the server adds to that time after the third loss in a row. By
	// default it doubles, up to ten minutes.
	lostAgain = 10 * time.Second
	// lostCache is when another worker gets a task of theirs that waits for the one that has
	// the workflow cached.
	lostCache = time.Second
)

// tuning overrides the server's defaults; doc.go lists the effects.
func tuning(historyLimit int) dynamicconfig.StaticClient {
	settings := dynamicconfig.StaticClient{
		dynamicconfig.TransferProcessorMaxPollRPS.Key():   10_000,
		dynamicconfig.TimerProcessorMaxPollRPS.Key():      10_000,
		dynamicconfig.VisibilityProcessorMaxPollRPS.Key(): 10_000,
		dynamicconfig.OutboundProcessorMaxPollRPS.Key():   10_000,

		dynamicconfig.TimerProcessorMaxTimeShift.Key(): 10 * time.Millisecond,

		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,
		dynamicconfig.MatchingEnableFairness.Key():              true,

		dynamicconfig.EnableCancelActivityWorkerCommand.Key(): true,
		dynamicconfig.WorkerCommandsEnabled.Key():             true,
		dynamicconfig.EnableCancelWorkerPollsOnShutdown.Key(): true,
		dynamicconfig.KeepAliveTime.Key():                     time.Second,
		dynamicconfig.KeepAliveTimeout.Key():                  2 * time.Second,
		dynamicconfig.HistoryLongPollExpirationInterval.Key(): time.Second,

		dynamicconfig.DefaultWorkflowTaskTimeout.Key():      lostTask,
		dynamicconfig.WorkflowTaskRetryMaxInterval.Key():    lostAgain,
		dynamicconfig.WorkerPerNamespaceWorkerOptions.Key(): worker.Options{StickyScheduleToStartTimeout: lostCache},

		dynamicconfig.HistoryCacheHostLevelMaxSize.Key():              500,
		dynamicconfig.EventsHostLevelCacheMaxSizeBytes.Key():          8 << 20,
		dynamicconfig.XDCCacheMaxSizeBytes.Key():                      0,
		dynamicconfig.PersistenceHealthSignalMetricsEnabled.Key():     false,
		dynamicconfig.PersistenceHealthSignalAggregationEnabled.Key(): false,

		dynamicconfig.EnableServerVersionCheck.Key(): false,
		dynamicconfig.TaskQueueScannerEnabled.Key():  false,
		dynamicconfig.HistoryScannerEnabled.Key():    false,

		// What is made for clusters: 512 workers for each queue of a shard, workers for
		// replication, for parents with many children, and for schedules of the server's own.
		dynamicconfig.TimerProcessorSchedulerWorkerCount.Key():                  queueWorkers,
		dynamicconfig.TransferProcessorSchedulerWorkerCount.Key():               queueWorkers,
		dynamicconfig.VisibilityProcessorSchedulerWorkerCount.Key():             queueWorkers,
		dynamicconfig.ReplicationProcessorSchedulerWorkerCount.Key():            1,
		dynamicconfig.ReplicationLowPriorityProcessorSchedulerWorkerCount.Key(): 1,
		dynamicconfig.EnableParentClosePolicyWorker.Key():                       false,
		dynamicconfig.WorkerPerNamespaceWorkerCount.Key(): []dynamicconfig.ConstrainedValue{
			{Constraints: dynamicconfig.Constraints{Namespace: primitives.SystemLocalNamespace}, Value: 0},
			{Value: 1},
		},
	}
	if historyLimit > 0 {
		settings[dynamicconfig.HistoryCountSuggestContinueAsNew.Key()] = historyLimit
	}
	return settings
}

// services are the server's services; each has its own port.
type services map[primitives.ServiceName]int

// serverConfig is the server's static configuration: one shard, one store, no
// membership protocol, no metrics, no archive.
func serverConfig(opts Options, ports services, db *config.SQL) *config.Config {
	frontend := reachable(opts.Host, ports[primitives.FrontendService])
	cfg := &config.Config{
		Persistence: config.Persistence{
			DefaultStore:     storeName,
			VisibilityStore:  storeName,
			NumHistoryShards: 1,
			DataStores:       map[string]config.DataStore{storeName: {SQL: db}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				// For other clusters; a change would be written to the database.
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: net.JoinHostPort(loopback, "0")},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        config.PublicClient{HostPort: frontend},
		Services:            map[string]config.Service{},
	}
	cfg.Archival.History.State = "disabled"
	cfg.Archival.Visibility.State = "disabled"
	cfg.NamespaceDefaults.Archival.History.State = "disabled"
	cfg.NamespaceDefaults.Archival.Visibility.State = "disabled"
	for name, port := range ports {
		host := loopback
		if name == primitives.FrontendService {
			host = opts.Host
		}
		cfg.Services[string(name)] = config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: host}}
	}
	return cfg
}

func (s services) address(name primitives.ServiceName) string {
	return net.JoinHostPort(loopback, strconv.Itoa(s[name]))
}
