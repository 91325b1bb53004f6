#include "vocabulary/settings.hpp"

#include "vocabulary/tables.hpp"

namespace ranklab::vocabulary {
namespace {

using namespace options::marks;
using options::Role;
using options::Schema;
using S = CollectivesSettings;

void add_work(Schema& rows) {
    rows.section("What is exchanged")
        .text("op", {&S::op, kEssential, kInHeader}, "NAME[,NAME]|all|pairs",
              "operations to time (see --list), or pairs: each node with others in turn, with "
              "messages of -b (latency) and -e (bandwidth)")
        .text("datatype", {&S::datatype, 'd', kEssential, kInHeader}, "TYPE[,TYPE]|all",
              "element types: fp32 fp16 bf16 fp64 int32 int64 uint8")
        .text("redop", {&S::redop, 'o'}, "NAME[,NAME]|all", "reductions: sum min max avg")
        .integer("root", {&S::root, 'r'}, {0, 1'000'000'000}, "root rank of broadcast and reduce")
        .choice("place", &S::place, {"both", "out-of-place", "in-place"},
                "use separate send and receive buffers, or one buffer (for operations that can)")
        .choice("backend", {&S::backend, kEssential, kInHeader}, {},
                "library that carries the messages (default: nccl between GPUs, otherwise mpi)")
        .choice("memory", &S::memory, {"pageable", "device"},
                "memory of the buffers (default: device for nccl, otherwise pageable)")
        .bytes("unalign", {&S::unalign, 'u'}, 0, "offset of each buffer from the start of a page")
        .choice("scope", &S::scope, {"auto", "job", "all"},
                "all: also time the ranks of one host, and one rank per host; auto: all if the job "
                "has several hosts with several ranks")
        .formerly("levels");
}

void add_sizes(Schema& rows) {
    rows.section("Message sizes")
        .bytes("min-bytes", {&S::min_bytes, 'b', kEssential}, 0, "size of the smallest message")
        .bytes("max-bytes", {&S::max_bytes, 'e', kEssential}, 0, "size of the largest message")
        .real("step-factor", {&S::step_factor, 'f'}, {1.0001, 1e6},
              "factor from one message size to the next")
        .bytes("step-bytes", {&S::step_bytes, 'i'}, 1,
               "difference from one message size to the next, instead of -f")
        .text("sizes", &S::sizes, "SIZE[,SIZE]", "message sizes, instead of -b -e -f")
        .text("from-model", {&S::from_model, kEssential, kReadsFiles}, "NAME|FILE",
              "gradient buckets of a model (see --list), or of a table by `ranklab train "
              "--buckets`, in the order of a step");
}

void add_measuring(Schema& rows) {
    rows.section("Measuring")
        .integer("repetitions", {&S::repetitions, 'n', kEssential, Role::times}, {1, 1'000'000},
                 "timed calls per message size, in up to four rounds, each with its own warm-up "
                 "and order of the sizes")
        .integer("rounds", {&S::rounds, Role::times}, {1, 100'000},
                 "pairs: rounds, each with other pairs (default: 2 ceil(log2 nodes))")
        .integer("check", {&S::check, 'c', Role::aside}, {0, 1000},
                 "untimed calls whose results are compared completely; 0: the run is marked as not "
                 "verified")
        .choice("average", {&S::average, 'a'}, {"0", "1", "2", "3"},
                "which time of a call counts: 0 rank 0's, 1 the mean over ranks, 2 the shortest, 3 "
                "the longest; the operations latency and bandwidth: always the first rank's")
        .choice("blocking", {&S::blocking, 'z'}, {"0", "1", "2", "3", "4"},
                "what is between two calls: 0 nothing, the loop is timed as a whole; 1 a barrier, "
                "which is timed; 2 nothing, each call is timed; 3 a barrier, which is not timed; 4 "
                "a common start time on synchronised clocks")
        .flag("nonblocking", &S::nonblocking,
              "measure how much of the non-blocking operation overlaps with calibrated compute")
        .choice("mpi-progress", &S::progress, {"none", "poll"},
                "what drives MPI progress during compute: nothing, or polls from the compute loop")
        .formerly("progress")
        .text("fault", {&S::fault, Role::work}, "flip:RANK|sleep:RANK:MS",
              "test the checks: flip a bit of a rank's result, or delay the rank before each call");
}

void add_output(Schema& rows) {
    rows.section("Output")
        .add({.name = "gpus-per-rank",
              .placeholder = "N",
              .help = "a rank has one GPU: mpirun -n N starts N ranks",
              .type = options::Type::integer,
              .fallback = "1",
              .minimum = 1,
              .maximum = 1,
              .shorthand = 'g',
              .role = Role::request})
        .flag("per-iter", {&S::per_iter, 'I', Role::bookkeeping},
              "accepted from nccl-tests: the table messages always has min, max, p99 and cv%");
}

}  // namespace

const Schema& collectives_settings() {
    static const Schema rows = [] {
        Schema made;
        add_work(made);
        add_sizes(made);
        add_measuring(made);
        add_output(made);
        relate(made, "comm");
        made.no_option({"t", "ngpus", "nthreads"},
                       "each rank has one GPU and one thread: mpirun -n N ranklab comm")
            .no_option({"x"}, "use -w for the warm-up")
            .no_option({"m"}, "use -b and -e for the smallest and largest message");
        return made;
    }();
    return rows;
}

}  // namespace ranklab::vocabulary
