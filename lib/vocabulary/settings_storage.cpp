#include "vocabulary/settings.hpp"

namespace ranklab::vocabulary {
namespace {

using namespace options::marks;
using options::Role;
using options::Schema;

void add_work(Schema& rows) {
    rows.section("What is written")
        .text("strategy", "[,NAME]", "all",
              "strategies to run (see --list); with several, each round makes one repetition of "
              "each, in random order, and a table compares them")
        .bind(&StorageSettings::strategy, kEssential, kInHeader)
        .integer("files", 0, "15", "number of records: files or datasets")
        .bind(&StorageSettings::files, 'n', kEssential, kInHeader)
        .integer("size", 1, "100", "a record is size x size float64")
        .bind(&StorageSettings::size, 's', kEssential, kInHeader)
        .integer("workers", {1, 4096}, "1", "worker processes of the strategies that have them")
        .bind(&StorageSettings::workers, kEssential)
        .flag("async", "process-pool: do not wait for each task before the next")
        .bind(&StorageSettings::async)
        .flag("dynamic", "mpi-send: ranks ask for their next chunk")
        .bind(&StorageSettings::dynamic)
        .integer("chunk-files", 1, "1", "records per chunk of --dynamic")
        .bind(&StorageSettings::chunk_files)
        .text("directory", "DIR", "output",
              "folder to write into; with several strategies, one folder in it for each")
        .bind(&StorageSettings::directory, kEssential, kInHeader,
              Role::bookkeeping);  // its file system is compared
}

void add_reading(Schema& rows) {
    rows.section("Reading and checking")
        .flag("check-write", "read everything back after writing, untimed, and compare")
        .bind(&StorageSettings::check_write, 'W', Role::aside)
        .flag("check-read", "compare what the timed reads return")
        .bind(&StorageSettings::check_read, 'R', Role::aside)
        .flag("reorder",
              "each rank reads records that another rank wrote, on another node if there is one; "
              "also in the timed reads")
        .bind(&StorageSettings::reorder, 'C')
        .flag("no-verify", "compare nothing: the run is marked as not verified")
        .bind(&StorageSettings::no_verify)
        .excludes_each({"check-write", "check-read"})
        .flag("cold",
              "drop the files from the page cache before the first read; exit code 7 if it was not "
              "cold")
        .bind(&StorageSettings::cold, kEssential)
        .integer("reads", {1, 1'000'000'000}, "1", "timed reads after each write")
        .bind(&StorageSettings::reads, Role::aside)
        .flag("write-only", "do not read")
        .bind(&StorageSettings::write_only)
        .excludes_each({"read-only", "check-write", "check-read", "cold", "reorder"})
        .flag("read-only", "read the files that an earlier run left with --keep")
        .bind(&StorageSettings::read_only)
        .excludes({.other = "check-write"})
        .flag("keep", "keep the files of the last repetition")
        .bind(&StorageSettings::keep, 'k', kEssential, Role::kept);
}

void add_measuring(Schema& rows) {
    rows.section("Measuring")
        .integer("repetitions", 1, "1", "how often to write and read; 6 or more give intervals")
        .bind(&StorageSettings::repetitions, 'i', kEssential, Role::times)
        .append(target_setting<StorageSettings>("-i"))
        .flag("fsync", "fsync each file as a part of writing it")
        .bind(&StorageSettings::fsync, 'e', kEssential)
        .flag("rename", "write each file under a temporary name and rename it when it is complete")
        .bind(&StorageSettings::rename)
        .choice("ceilings", {"auto", "on", "off"}, "auto",
                "also measure plain write() of the same bytes, and file creation; auto: with "
                "several strategies or repetitions")
        .bind(&StorageSettings::ceilings, Role::aside);
}

void add_hdf5(Schema& rows) {
    rows.section("HDF5")
        .choice("layout", {"files", "single"}, "files",
                "files: a dataset per record; single: one dataset [files, size, size]")
        .bind(&StorageSettings::layout)
        .integer("chunk", 0, "0", "edge of square chunks; 0: contiguous")
        .bind(&StorageSettings::chunk)
        .bytes("alignment", 1, "64",
               "align objects of at least this size to multiples of it; 1: as h5py does")
        .bind(&StorageSettings::alignment)
        .text("hints", "KEY=VALUE[,...]", "", "MPI-IO hints (cb_nodes=1,romio_ds_write=disable)")
        .bind(&StorageSettings::hints)
        .choice("allocation", {"early", "late"}, "early", "when to allocate datasets in the file")
        .bind(&StorageSettings::allocation)
        .flag("fill", "write zeros when space is allocated")
        .bind(&StorageSettings::fill)
        .choice("collective-metadata", {"on", "off"}, "on",
                "have all ranks read and write metadata collectively")
        .bind(&StorageSettings::collective_metadata)
        .flag("latest-format", "use the library's newest file format")
        .bind(&StorageSettings::latest_format);
}

Schema made_storage_settings() {
    Schema rows;
    add_work(rows);
    add_reading(rows);
    add_measuring(rows);
    add_hdf5(rows);
    return rows;
}

}  // namespace

const Schema& storage_settings() {
    static const Schema rows = made_storage_settings();
    return rows;
}

}  // namespace ranklab::vocabulary
