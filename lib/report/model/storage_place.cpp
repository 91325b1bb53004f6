#include "report/model/storage_place.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "base/file_system.hpp"
#include "base/text.hpp"
#include "report/model/surroundings.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

constexpr const char* kUnknown = "unknown";
constexpr const char* kStorage = "storage";  // of a run's context

std::string or_unknown(const std::string& value) {
    return value.empty() ? kUnknown : value;
}

// Of a run that an older program stored: what its table says of the readings that the rate is of.
std::string cache_in_table(const results::Run& run) {
    const auto* table = run.find_table("io_reads");
    if (table == nullptr) return "";
    std::set<std::string> labels;
    for (std::size_t i = 0; i < row_count(*table); ++i)
        if (const auto pass = text_at(*table, "pass", i); pass.empty() || pass == "read 1")
            labels.insert(text_at(*table, "cache", i));
    return base::join({labels.begin(), labels.end()}, ", ");
}

std::string cache_of(const results::Run& run) {
    const std::string fact = run.fact(kStorage, "cache");
    return fact.empty() ? cache_in_table(run) : fact;
}

}  // namespace

std::string file_system_of(const results::Run& run) {
    const std::string fact = run.fact(kStorage, "file_system");
    return fact.empty() ? seen_in_tables(run, "file_system") : fact;
}

std::string fsync_of(const results::Run& run) {
    const std::string fsync = run.setting("fsync");
    return fsync.empty() ? "" : fsync == "true" ? "yes" : "no";
}

std::string cache_kind(const results::Run& run) {
    const std::string cache = cache_of(run);
    return cache.find(',') == std::string::npos ? cache.substr(0, cache.find(' ')) : "mixed";
}

StoragePlace storage_place(const results::Run& run) {
    const auto measured = [&](std::string_view name) { return run.find(name) != nullptr; };
    StoragePlace place;
    place.directory = run.fact(kStorage, "directory");
    if (place.directory.empty()) place.directory = or_unknown(run.setting("directory"));
    place.file_system = or_unknown(file_system_of(run));
    if (measured(vocabulary::kJobTime)) place.fsync = or_unknown(fsync_of(run));
    if (measured(vocabulary::kReadRate) || measured(vocabulary::kReadTime))
        place.cache = or_unknown(cache_of(run));
    return place;
}

std::vector<std::pair<std::string, std::string>> fields_of(const StoragePlace& place) {
    return {{"directory", place.directory},
            {"file_system", place.file_system},
            {"fsync", place.fsync},
            {"cache", place.cache}};
}

std::string place_text(const StoragePlace& place) {
    std::string text = place.file_system == kUnknown ? "file system unknown" : place.file_system;
    if (place.fsync == "yes") text += ", fsync";
    if (place.fsync == "no") text += ", no fsync";
    if (place.fsync == kUnknown) text += ", fsync unknown";
    return place.cache.empty() ? text : text + ", cache " + place.cache;
}

std::string writing_words(const StoragePlace& place) {
    const bool in_memory = base::kind_of_file_system(place.file_system) == base::FileSystemKind::memory;
    if (in_memory && !place.fsync.empty())
        return place.file_system + " keeps files in memory: no disk took part";
    if (place.fsync == "yes") return "fsync: each file is on the disk when its writing ends";
    if (place.fsync == "no") return "no fsync: bytes may still be in memory when the time ends";
    return place.fsync.empty() ? "" : "whether with fsync is unknown";
}

std::string reading_words(const StoragePlace& place) {
    const std::string& cache = place.cache;
    if (cache.empty()) return "";
    const bool served = base::kind_of_file_system(place.file_system) == base::FileSystemKind::network;
    const char* meaning = cache.starts_with("cold") && served
                              ? "the file server sent the bytes, from its disks or from its own cache"
                          : cache.starts_with("cold") ? "the device delivered the bytes"
                          : cache.starts_with("warm")
                              ? "they lay in the page cache of the node that read them"
                          : cache.starts_with("mixed")  ? "so much of them lay in the page cache"
                          : cache.starts_with("memory") ? "the file system keeps its files in memory"
                                                        : "what served the bytes is not known";
    return fmt::format("cache {}: {}", cache, meaning);
}

}  // namespace ranklab::report::model
