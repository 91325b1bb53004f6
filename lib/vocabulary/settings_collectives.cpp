#include "vocabulary/settings.hpp"

namespace ranklab::vocabulary {
namespace {

using namespace options::marks;
using options::Role;
using options::Schema;

constexpr std::nullopt_t kOpen = std::nullopt;  // the experiment settles it

void add_work(Schema& rows) {
    rows.section("What is exchanged")
        .text("op", "NAME[,NAME]|all", "allreduce", "operations to time (see --list)")
        .bind(&CollectivesSettings::op, kEssential, kInHeader)
        .text("datatype", "TYPE[,TYPE]|all", "fp32",
              "element types: fp32 fp16 bf16 fp64 int32 int64 uint8")
        .bind(&CollectivesSettings::datatype, 'd', kEssential, kInHeader)
        .text("redop", "NAME[,NAME]|all", "sum", "reductions: sum min max avg")
        .bind(&CollectivesSettings::redop, 'o')
        .integer("root", {0, 1'000'000'000}, "0", "root rank of broadcast and reduce")
        .bind(&CollectivesSettings::root, 'r')
        .choice("place", {"both", "out-of-place", "in-place"}, "both",
                "use separate send and receive buffers, or one buffer (for operations that can)")
        .bind(&CollectivesSettings::place)
        .choice("backend", {}, kOpen,
                "library that carries the messages (default: nccl between GPUs, otherwise mpi)")
        .bind(&CollectivesSettings::backend, kEssential, kInHeader)
        .choice("memory", {"pageable", "pinned", "device"}, kOpen,
                "memory of the buffers; pinned: page-locked (default: device for nccl, otherwise "
                "pageable)")
        .bind(&CollectivesSettings::memory)
        .bytes("unalign", 0, "0", "offset of each buffer from the start of a page")
        .bind(&CollectivesSettings::unalign, 'u')
        .flag("rotate-buffers",
              "take the buffers of each call from another part of a memory larger than the caches")
        .bind(&CollectivesSettings::rotate_buffers)
        .choice("scope", {"auto", "job", "all"}, "auto",
                "all: also time the ranks of one host, and one rank per host; auto: all if the job "
                "has several hosts with several ranks")
        .formerly("levels")
        .bind(&CollectivesSettings::scope);
}

void add_sizes(Schema& rows) {
    rows.section("Message sizes")
        .bytes("min-bytes", 0, "8", "size of the smallest message")
        .bind(&CollectivesSettings::min_bytes, 'b', kEssential)
        .bytes("max-bytes", 0, "4M", "size of the largest message")
        .bind(&CollectivesSettings::max_bytes, 'e', kEssential)
        .real("step-factor", {1.0001, 1e6}, "2", "factor from one message size to the next")
        .bind(&CollectivesSettings::step_factor, 'f')
        .bytes("step-bytes", 1, kOpen,
               "difference from one message size to the next, instead of -f")
        .bind(&CollectivesSettings::step_bytes, 'i')
        .excludes({.other = "step-factor"})
        .text("sizes", "SIZE[,SIZE]", kOpen, "message sizes, instead of -b -e -f")
        .bind(&CollectivesSettings::sizes)
        .excludes_each({"min-bytes", "max-bytes", "step-factor", "step-bytes"})
        .text("from-model", "NAME|FILE", kOpen,
              "gradient buckets of a model (see --list), or of a table by `ranklab train "
              "--buckets`, in the order of a step")
        .bind(&CollectivesSettings::from_model, kEssential)
        .excludes({.other = "op", .because = "gradients are summed by allreduce"})
        .excludes({.other = "datatype", .because = "the table has the gradients' type"})
        .excludes({.other = "redop", .because = "gradients are summed"})
        .excludes_each({"sizes", "min-bytes", "max-bytes", "step-factor", "step-bytes", "root",
                        "scope", "nonblocking", "with-load"})
        .excludes({.other = "place", .because = "a training step reduces in place"})
        .excludes({.other = "rotate-buffers", .because = "each bucket has memory of its own"})
        .excludes({.other = "blocking", .because = "there is a barrier before each bucket"});
}

void add_measuring(Schema& rows) {
    rows.section("Measuring")
        .integer("repetitions", {1, 1'000'000}, "50",
                 "timed calls per message size, in up to four rounds, each with a warm-up and "
                 "another order")
        .bind(&CollectivesSettings::repetitions, 'n', kEssential, Role::times)
        .integer("check", {0, 1000}, "1",
                 "untimed calls whose results are compared completely; 0: the run is marked as not "
                 "verified")
        .bind(&CollectivesSettings::check, 'c', Role::aside)
        .choice("average", {"0", "1", "2", "3"}, "3",
                "which time of a call counts: 0 rank 0's, 1 the mean over ranks, 2 the shortest, 3 "
                "the longest; for latency and bandwidth the first rank's")
        .bind(&CollectivesSettings::average, 'a')
        .choice("blocking", {"0", "1", "2", "3", "4"}, "3",
                "what is between two calls: 0 nothing, the loop is timed as a whole; 1 a barrier, "
                "inside the time; 2 nothing, each call is timed; 3 a barrier, outside the time; 4 "
                "a common start time on synchronised clocks")
        .bind(&CollectivesSettings::blocking, 'z')
        .flag("nonblocking",
              "measure how much of the non-blocking operation hides behind calibrated compute")
        .bind(&CollectivesSettings::nonblocking)
        .choice("mpi-progress", {"none", "poll", "thread"}, "none",
                "what drives MPI progress during compute: nothing, polls from the compute loop, a "
                "thread")
        .formerly("progress")
        .bind(&CollectivesSettings::progress)
        .needs({.other = "nonblocking"})
        .flag("with-load", "measure everything again while a compute kernel runs on the same cores")
        .bind(&CollectivesSettings::with_load)
        .text("fault", "flip:RANK|sleep:RANK:MS", kOpen,
              "test the checks: flip a bit of a rank's result, or delay the rank before each call")
        .bind(&CollectivesSettings::fault, Role::work);
}

void add_output(Schema& rows) {
    rows.section("Output")
        .integer("gpus-per-rank", {1, 1}, "1", "a rank has one GPU: mpirun -n N starts N ranks")
        .shorthand('g')
        .role(Role::request)
        .choice("format", {"text", "nccl-tests"}, "text",
                "nccl-tests: print nccl-tests' table before the answer, for programs that parse it")
        .bind(&CollectivesSettings::format, Role::request)
        .flag("per-iter", "nccl-tests: add the columns i_min i_max i_p99 i_cv% of the calls' times")
        .bind(&CollectivesSettings::per_iter, 'I', Role::bookkeeping);
}

Schema made_collectives_settings() {
    Schema rows;
    add_work(rows);
    add_sizes(rows);
    add_measuring(rows);
    add_output(rows);
    rows.no_option({"t", "ngpus", "nthreads"},
                   "each rank has one GPU and one thread: mpirun -n N ranklab comm")
        .no_option({"x"}, "use -w for the warm-up")
        .no_option({"m"}, "use -b and -e for the smallest and largest message");
    return rows;
}

}  // namespace

const Schema& collectives_settings() {
    static const Schema rows = made_collectives_settings();
    return rows;
}

}  // namespace ranklab::vocabulary
