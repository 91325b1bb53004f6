#include "vocabulary/settings.hpp"

namespace ranklab::vocabulary {
namespace {

using namespace options::marks;
using options::Role;
using options::Schema;

void add_work(Schema& rows) {
    rows.section("What is written")
        .text("strategy", "[,NAME]", "all",
              "the strategies to run (--list names them); of several each round makes one "
              "repetition of each, in random order, and a table compares them")
        .bind(&StorageSettings::strategy, kEssential, kInHeader)
        .integer("files", 0, "15", "records: files or datasets")
        .bind(&StorageSettings::files, 'n', kEssential, kInHeader)
        .integer("size", 1, "100", "a record is size x size float64")
        .bind(&StorageSettings::size, 's', kEssential, kInHeader)
        .integer("workers", {1, 4096}, "1", "processes of process-pool and process-queue")
        .bind(&StorageSettings::workers, kEssential)
        .flag("async", "process-pool: do not wait for each task before the next")
        .bind(&StorageSettings::async)
        .flag("dynamic", "mpi-send: ranks ask for the next chunk")
        .bind(&StorageSettings::dynamic)
        .integer("chunk-files", 1, "1", "records per chunk of --dynamic")
        .bind(&StorageSettings::chunk_files)
        .text("directory", "DIR", "output",
              "the folder to write into; several strategies get a folder each in it")
        .bind(&StorageSettings::directory, kEssential, kInHeader,
              Role::bookkeeping);  // its file system is compared
}

void add_reading(Schema& rows) {
    rows.section("Reading and checking")
        .flag("check-write", "read all back right after writing, untimed, and compare")
        .bind(&StorageSettings::check_write, 'W', Role::aside)
        .flag("check-read", "compare what the timed reading got")
        .bind(&StorageSettings::check_read, 'R', Role::aside)
        .flag("reorder",
              "no rank reads what it wrote, timed readings too (ranks of another node read if "
              "there is one)")
        .bind(&StorageSettings::reorder, 'C')
        .flag("no-verify", "compare nothing: the run is marked as not verified")
        .bind(&StorageSettings::no_verify)
        .excludes_each({"check-write", "check-read"})
        .flag("cold",
              "drop the files from the page cache before the first reading; exit code 7 unless it "
              "was cold")
        .bind(&StorageSettings::cold, kEssential)
        .integer("reads", {1, 1'000'000'000}, "1", "timed readings after each writing")
        .bind(&StorageSettings::reads, Role::aside)
        .flag("write-only", "no reading")
        .bind(&StorageSettings::write_only)
        .excludes_each({"read-only", "check-write", "check-read", "cold", "reorder"})
        .flag("read-only", "read what an earlier run with --keep left")
        .bind(&StorageSettings::read_only)
        .excludes({.other = "check-write"})
        .flag("keep", "leave the files of the last repetition")
        .bind(&StorageSettings::keep, 'k', kEssential, Role::kept);
}

void add_measuring(Schema& rows) {
    rows.section("Measuring")
        .integer("repetitions", 1, "1", "write (and read) N times; 6 or more give intervals")
        .bind(&StorageSettings::repetitions, 'i', kEssential, Role::times)
        .append(target_setting<StorageSettings>("-i"))
        .flag("fsync", "bring each file to the disk before its writing ends (fsync)")
        .bind(&StorageSettings::fsync, 'e', kEssential)
        .flag("rename", "give a file a temporary name until it is whole")
        .bind(&StorageSettings::rename)
        .choice("ceilings", {"auto", "on", "off"}, "auto",
                "also measure raw write of the same bytes and file creation; auto: with several "
                "strategies or repetitions")
        .bind(&StorageSettings::ceilings, Role::aside);
}

void add_hdf5(Schema& rows) {
    rows.section("HDF5")
        .choice("layout", {"files", "single"}, "files",
                "a dataset per record, or one [files, size, size]")
        .bind(&StorageSettings::layout)
        .integer("chunk", 0, "0", "edge of square chunks; 0: contiguous")
        .bind(&StorageSettings::chunk)
        .bytes("alignment", 1, "64",
               "align objects of at least this size to its multiples; 1: as h5py does")
        .bind(&StorageSettings::alignment)
        .text("hints", "KEY=VALUE[,...]", "", "MPI-IO hints (cb_nodes=1,romio_ds_write=disable)")
        .bind(&StorageSettings::hints)
        .choice("allocation", {"early", "late"}, "early", "when to allocate datasets in the file")
        .bind(&StorageSettings::allocation)
        .flag("fill", "write zeros when space is allocated")
        .bind(&StorageSettings::fill)
        .choice("collective-metadata", {"on", "off"}, "on",
                "let all ranks handle metadata together")
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
