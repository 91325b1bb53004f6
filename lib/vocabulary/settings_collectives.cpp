#include "vocabulary/settings.hpp"

namespace ranklab::vocabulary {
namespace {

using namespace options::marks;
using options::Role;
using options::Schema;

constexpr std::nullopt_t kOpen = std::nullopt;  // the experiment settles it

void add_work(Schema& rows) {
    rows.section("What is exchanged")
        .text("op", "NAME[,NAME]|all", "allreduce", "the operations to time (--list names them)")
        .bind(&CollectivesSettings::op, kEssential, kInHeader)
        .text("datatype", "TYPE[,TYPE]|all", "fp32",
              "element types: fp32 fp16 bf16 fp64 int32 int64 uint8")
        .bind(&CollectivesSettings::datatype, 'd', kEssential, kInHeader)
        .text("redop", "NAME[,NAME]|all", "sum", "what reductions do: sum min max avg")
        .bind(&CollectivesSettings::redop, 'o')
        .integer("root", {0, 1'000'000'000}, "0",
                 "the rank that broadcast and reduce have as their root")
        .bind(&CollectivesSettings::root, 'r')
        .choice("place", {"both", "out-of-place", "in-place"}, "both",
                "receive into another buffer than one sends from, or (where the operation can) "
                "into the same")
        .bind(&CollectivesSettings::place)
        .choice("backend", {}, kOpen,
                "what carries the messages (default: nccl between GPUs, else mpi)")
        .bind(&CollectivesSettings::backend, kEssential, kInHeader)
        .choice(
            "memory", {"pageable", "pinned", "device"}, kOpen,
            "where the buffers lie; pinned: locked pages (default: device for nccl, else pageable)")
        .bind(&CollectivesSettings::memory)
        .bytes("unalign", 0, "0", "begin each buffer this many bytes behind a page's begin")
        .bind(&CollectivesSettings::unalign, 'u')
        .flag("rotate-buffers",
              "take each call's buffers from another part of a memory larger than the caches")
        .bind(&CollectivesSettings::rotate_buffers)
        .choice("scope", {"auto", "job", "all"}, "auto",
                "all: time the ranks of one host and one rank of each host, too; auto: where the "
                "job has several hosts with several ranks")
        .formerly("levels")
        .bind(&CollectivesSettings::scope);
}

void add_sizes(Schema& rows) {
    rows.section("Message sizes")
        .bytes("min-bytes", 0, "8", "the smallest message")
        .bind(&CollectivesSettings::min_bytes, 'b', kEssential)
        .bytes("max-bytes", 0, "4M", "the largest message")
        .bind(&CollectivesSettings::max_bytes, 'e', kEssential)
        .real("step-factor", {1.0001, 1e6}, "2", "the next message is this many times as large")
        .bind(&CollectivesSettings::step_factor, 'f')
        .bytes("step-bytes", 1, kOpen, "the next message is this many bytes larger, instead of -f")
        .bind(&CollectivesSettings::step_bytes, 'i')
        .excludes({.other = "step-factor"})
        .text("sizes", "SIZE[,SIZE]", kOpen, "these messages, instead of -b -e -f")
        .bind(&CollectivesSettings::sizes)
        .excludes_each({"min-bytes", "max-bytes", "step-factor", "step-bytes"})
        .text("from-model", "NAME|FILE", kOpen,
              "gradient buckets of a model (--list names them) or of ranklab train's table, in a "
              "step's order")
        .bind(&CollectivesSettings::from_model, kEssential)
        .excludes({.other = "op", .because = "gradients are summed by allreduce"})
        .excludes({.other = "datatype", .because = "the table has the gradients' type"})
        .excludes({.other = "redop", .because = "gradients are summed"})
        .excludes_each({"sizes", "min-bytes", "max-bytes", "step-factor", "step-bytes", "root",
                        "scope", "nonblocking", "with-load"})
        .excludes({.other = "place", .because = "a training step reduces in place"})
        .excludes({.other = "rotate-buffers", .because = "each bucket has memory of its own"})
        .excludes({.other = "blocking", .because = "a barrier stands before each bucket"});
}

void add_measuring(Schema& rows) {
    rows.section("Measuring")
        .integer("repetitions", {1, 1'000'000}, "50",
                 "timed calls of a message size, in up to four rounds, each warmed up and in "
                 "another order")
        .bind(&CollectivesSettings::repetitions, 'n', kEssential, Role::times)
        .integer(
            "check", {0, 1000}, "1",
            "untimed calls whose whole result is compared; 0: the run is marked as not verified")
        .bind(&CollectivesSettings::check, 'c', Role::aside)
        .choice("average", {"0", "1", "2", "3"}, "3",
                "how the ranks' times of a call become one: 0 rank 0's, 1 their mean, 2 the "
                "shortest, 3 the longest; of latency and bandwidth the first rank's counts")
        .bind(&CollectivesSettings::average, 'a')
        .choice("blocking", {"0", "1", "2", "3", "4"}, "3",
                "what stands between two calls: 0 nothing, the loop is timed as a whole; 1 a "
                "barrier, inside the time; 2 nothing, each call is timed; 3 a barrier, outside the "
                "time; 4 all ranks begin at an agreed moment of a common clock")
        .bind(&CollectivesSettings::blocking, 'z')
        .flag("nonblocking",
              "time the started operation behind calibrated compute: how much does it hide?")
        .bind(&CollectivesSettings::nonblocking)
        .choice(
            "mpi-progress", {"none", "poll", "thread"}, "none",
            "who lets the library work meanwhile: nobody, the compute now and then, or a thread")
        .formerly("progress")
        .bind(&CollectivesSettings::progress)
        .needs({.other = "nonblocking"})
        .flag("with-load", "time all once more while a compute kernel runs on the same cores")
        .bind(&CollectivesSettings::with_load)
        .text(
            "fault", "flip:RANK|sleep:RANK:MS", kOpen,
            "to try the checks: flip a bit of what the rank received, or delay it before each call")
        .bind(&CollectivesSettings::fault, Role::work);
}

void add_output(Schema& rows) {
    rows.section("Output")
        .integer("gpus-per-rank", {1, 1}, "1", "a rank has one GPU: mpirun -n N starts N ranks")
        .shorthand('g')
        .role(Role::request)
        .choice("format", {"text", "nccl-tests"}, "text",
                "nccl-tests: its table, for programs that read that, before the answer")
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
        .no_option({"x"}, "calls of warm-up are -w")
        .no_option({"m"}, "the smallest and largest message are -b and -e");
    return rows;
}

}  // namespace

const Schema& collectives_settings() {
    static const Schema rows = made_collectives_settings();
    return rows;
}

}  // namespace ranklab::vocabulary
