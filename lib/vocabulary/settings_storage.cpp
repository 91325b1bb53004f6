#include "vocabulary/settings.hpp"

#include "vocabulary/tables.hpp"

namespace ranklab::vocabulary {
namespace {

using namespace options::marks;
using options::Role;
using options::Schema;
using S = StorageSettings;

void add_work(Schema& rows) {
    rows.section("What is written")
        .text("strategy", {&S::strategy, kEssential, kInHeader}, "[,NAME]",
              "strategies to run (see --list); with several, each round makes one repetition of "
              "each, in random order, and a table compares them")
        .integer("files", {&S::files, 'n', kEssential, kInHeader}, 1,
                 "number of records: files or datasets")
        .integer("size", {&S::size, 's', kEssential, kInHeader}, 1,
                 "a record is size x size float64")
        .integer("workers", {&S::workers, 'w', kEssential}, {1, 4096},
                 "worker processes of the strategies that have them")
        .flag("async", &S::async, "process-pool: do not wait for each task before the next")
        // Not compared: runs are compared by the file system of the folder.
        .text("directory", {&S::directory, kEssential, kInHeader, Role::bookkeeping}, "DIR",
              "folder to write into; with several strategies, one folder in it for each");
}

void add_reading(Schema& rows) {
    rows.section("Reading and checking")
        .flag("check-write", {&S::check_write, 'W', Role::aside},
              "read everything back after writing, untimed, and compare")
        .flag("check-read", {&S::check_read, 'R', Role::aside},
              "compare what the timed reads return")
        .flag("reorder", {&S::reorder, 'C'},
              "also in the timed reads, each rank reads records that another rank wrote, on "
              "another node if there is one; the untimed check always does so")
        .flag("no-verify", &S::no_verify, "compare nothing: the run is marked as not verified")
        .flag("cold", {&S::cold, kEssential},
              "drop the files from the page cache before the first read; exit code 7 if the read "
              "was not cold")
        .integer("reads", {&S::reads, Role::aside}, {1, 1'000'000'000},
                 "timed reads after each write")
        .flag("write-only", &S::write_only, "do not read")
        .flag("read-only", &S::read_only, "read the files that an earlier run left with --keep")
        .flag("keep", {&S::keep, 'k', kEssential, Role::kept},
              "keep the files of the last repetition");
}

void add_measuring(Schema& rows) {
    rows.section("Measuring")
        .integer("repetitions", {&S::repetitions, 'i', kEssential, Role::times}, 1,
                 "how often to write and read; 6 or more give intervals")
        .text("target-ci", {&S::target_ci, Role::times}, "PERCENT", target_help("-i"))
        .flag("fsync", {&S::fsync, 'e', kEssential}, "fsync each file as a part of writing it")
        .choice("ceilings", {&S::ceilings, Role::aside}, {"auto", "on", "off"},
                "also measure plain write() of the same bytes, and file creation; auto: with "
                "several strategies or repetitions");
}

void add_views(Schema& rows) {
    rows.section("What is recorded")
        .choice("profile", &S::profile, {"calls"},
                "calls: calls and time of each part of the strategies, as cProfile's table")
        .text("trace", {&S::trace, Role::kept}, "FILE.json",
              "write a timeline of each worker and rank in the last repetition of each strategy, "
              "for Perfetto and chrome://tracing");
}

void add_hdf5(Schema& rows) {
    rows.section("HDF5")
        .choice("layout", &S::layout, {"files", "single"},
                "files: a dataset per record; single: one dataset [files, size, size]")
        .integer("chunk", &S::chunk, 0, "edge of square chunks; 0: contiguous")
        .bytes("alignment", &S::alignment, 1,
               "align objects of at least this size to multiples of it; 1: as h5py does")
        .text("hints", &S::hints, "KEY=VALUE[,...]",
              "MPI-IO hints (cb_nodes=1,romio_ds_write=disable)")
        .choice("allocation", &S::allocation, {"early", "late"},
                "when to allocate datasets in the file")
        .flag("fill", &S::fill, "write zeros when space is allocated")
        .choice("collective-metadata", &S::collective_metadata, {"on", "off"},
                "have all ranks read and write metadata collectively")
        .flag("latest-format", &S::latest_format, "use the library's newest file format");
}

}  // namespace

const Schema& storage_settings() {
    static const Schema rows = [] {
        Schema made;
        add_work(made);
        add_reading(made);
        add_measuring(made);
        add_views(made);
        add_hdf5(made);
        relate(made, "io");
        return made;
    }();
    return rows;
}

}  // namespace ranklab::vocabulary
