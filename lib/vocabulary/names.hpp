// The settings and facts of a run that other libraries read, by name. vocabulary_test checks them
// against their rows.
#pragma once

#include <string_view>

namespace ranklab::vocabulary {

/// For Run::setting.
namespace setting {
inline constexpr std::string_view kAccumulate = "accumulate";
inline constexpr std::string_view kAverage = "average";
inline constexpr std::string_view kBackend = "backend";
inline constexpr std::string_view kBatchSize = "batch-size";
inline constexpr std::string_view kBlocking = "blocking";
inline constexpr std::string_view kBucketCap = "bucket-cap-mb";
inline constexpr std::string_view kZero = "zero";
inline constexpr std::string_view kCheck = "check";
inline constexpr std::string_view kCompress = "compress";
inline constexpr std::string_view kData = "data";
inline constexpr std::string_view kDatatype = "datatype";
inline constexpr std::string_view kDevice = "device";
inline constexpr std::string_view kDirectory = "directory";
inline constexpr std::string_view kFault = "fault";
inline constexpr std::string_view kFiles = "files";
inline constexpr std::string_view kFromModel = "from-model";
inline constexpr std::string_view kFsync = "fsync";
inline constexpr std::string_view kGlobalBatchSize = "global-batch-size";
inline constexpr std::string_view kMemory = "memory";
inline constexpr std::string_view kMode = "mode";
inline constexpr std::string_view kModel = "model";
inline constexpr std::string_view kMpiProgress = "mpi-progress";
inline constexpr std::string_view kOp = "op";
inline constexpr std::string_view kOutput = "output";
inline constexpr std::string_view kPrecision = "precision";
inline constexpr std::string_view kRanks = "ranks";
inline constexpr std::string_view kReplicas = "replicas";
inline constexpr std::string_view kSize = "size";
inline constexpr std::string_view kSteps = "steps";
inline constexpr std::string_view kStrategy = "strategy";
inline constexpr std::string_view kSync = "sync";
inline constexpr std::string_view kThreads = "threads";
inline constexpr std::string_view kTransfer = "transfer";
inline constexpr std::string_view kUnalign = "unalign";
inline constexpr std::string_view kWarmup = "warmup";
inline constexpr std::string_view kWidth = "width";
inline constexpr std::string_view kWorkers = "workers";
}  // namespace setting

/// The section and key of a fact in the context of a run, for Run::fact.
struct FactName {
    std::string_view section, key;
};
/// The word that a compared fact begins with. Details may follow: "mixed 37 %".
enum class FactWord { none, yes, no, cold, warm, mixed, memory, unknown, host, device };
constexpr FactWord yes_or_no(bool yes) {
    return yes ? FactWord::yes : FactWord::no;
}
/// A host is quiet if other processes keep at most this share of the run's CPUs busy.
inline constexpr double kMostOtherLoad = 0.05;
namespace fact {
inline constexpr FactName kBuildType{"build", "type"};
inline constexpr FactName kCpuQuota{"host", "cpu_quota"};
inline constexpr FactName kGovernor{"host", "governor"};
inline constexpr FactName kLogicalCpus{"host", "logical_cpus"};
inline constexpr FactName kLoad{"host", "load_1min"};
inline constexpr FactName kProcess{"process", "instance"};
inline constexpr FactName kQuietHosts{"place", "quiet"};
/// CPUs of the run that other processes used, on the host where they used most.
inline constexpr FactName kOthersCores{"place", "others_cores"};
inline constexpr FactName kOthersHost{"place", "others_cores_host"};
inline constexpr FactName kConverged{"measuring", "converged"};
/// "no": the job ended before the run was whole.
inline constexpr FactName kComplete{"measuring", "complete"};
inline constexpr FactName kResumedFromStep{"checkpoint", "resumed_from_step"};
inline constexpr FactName kIntraOpThreads{"training", "intra_op_threads"};
inline constexpr FactName kLimit{"training", "limit"};
inline constexpr FactName kMemoryFixed{"training", "memory_fixed_bytes"};
inline constexpr FactName kMemoryPerSample{"training", "memory_bytes_per_sample"};
inline constexpr FactName kTrainSamples{"training", "train_samples"};
inline constexpr FactName kNoOverlap{"communication", "no_overlap"};
inline constexpr FactName kStepStraggler{"communication", "late_rank"};
inline constexpr FactName kCallStraggler{"collectives", "late_rank"};
inline constexpr FactName kCallStragglerText{"collectives", "late"};
inline constexpr FactName kHeadline{"collectives", "headline"};
inline constexpr FactName kPolicy{"collectives", "policy"};
inline constexpr FactName kCache{"storage", "cache"};
inline constexpr FactName kFileDirectory{"storage", "directory"};
inline constexpr FactName kFileSystem{"storage", "file_system"};
inline constexpr FactName kParticipants{"storage", "participants"};
inline constexpr FactName kWorkerProcesses{"storage", "workers"};
inline constexpr FactName kIsBaseline{"storage", "baseline"};
inline constexpr FactName kBytesPerValue{"storage", "bytes_per_value"};
inline constexpr FactName kLadderBaseline{"ladder", "baseline"};
inline constexpr FactName kBackendMemory{"communication", "memory"};
// Properties of the catalogue entries that a training's options name: "yes" or "no".
/// Ranks train one model: their gradients are summed.
inline constexpr FactName kSumsGradients{"training", "sums_gradients"};
/// One allreduce sums all gradients.
inline constexpr FactName kSumsAtOnce{"training", "sums_at_once"};
/// Gradients are summed while backward computes other gradients.
inline constexpr FactName kSumsInBackward{"training", "sums_in_backward"};
/// --bucket-cap-mb limits the bytes of one allreduce.
inline constexpr FactName kCapsBuckets{"training", "caps_buckets"};
/// The backward time contains the wait for other ranks.
inline constexpr FactName kWaitsInBackward{"training", "waits_in_backward"};
/// Only one of the loader's threads reads at a time.
inline constexpr FactName kReadsInTurn{"training", "reads_in_turn"};
/// The baseline with which other ways to sum gradients are compared.
inline constexpr FactName kBaselineSync{"training", "baseline_sync"};
/// Trains on one device, without communication.
inline constexpr FactName kSingleDevice{"training", "single_device"};
/// The setting `sync` applies.
inline constexpr FactName kUsesSync{"training", "uses_sync"};
}  // namespace fact

}  // namespace ranklab::vocabulary
