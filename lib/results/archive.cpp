#include "results/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hdf5/contents.hpp"
#include "results/opened.hpp"
#include "results/replace.hpp"
#include "results/staged_file.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOldId = "merged_from_id";
constexpr std::uint64_t kHousekeeping = std::uint64_t{256} << 10U;

// A file open to read.
struct Source {
    explicit Source(const fs::path& named)
        : path(named),
          resolved(existing(named)),
          file(open_results(resolved)),
          root(file.root()),
          runs(root.open_group("runs")) {}

    fs::path path;
    fs::path resolved;
    hdf5::File file;
    hdf5::Group root;
    hdf5::Group runs;
};

std::string names_of(const fs::path& out, const std::vector<fs::path>& files) {
    constexpr std::size_t kNamed = 4;
    if (files.size() > kNamed) return fmt::format("{} or one of the {} others", out.string(), files.size());
    std::string names = out.string();
    for (const auto& file : files) names += " or " + file.string();
    return names;
}

std::unique_ptr<Source> open_source(const fs::path& path) {
    return speaking_of(path, [&] { return std::make_unique<Source>(path); });
}

// A run on its way into a new file.
struct Entry {
    const Source* source;
    std::string id;
    std::string new_id;
    std::string started_utc;
};

std::vector<Entry> entries_of(const Source& source) {
    return speaking_of(source.path, [&] {
        std::vector<Entry> entries;
        for (const auto& id : source.runs.members()) entries.push_back({&source, id, id, ""});
        return entries;
    });
}

std::uint64_t room_for(const std::vector<Entry>& entries) {
    std::map<const Source*, std::uint64_t> wanted;
    for (const auto& entry : entries) ++wanted[entry.source];
    std::uint64_t bytes = kHousekeeping;
    for (const auto& [source, runs] : wanted) {
        const std::uint64_t all = source->runs.members().size();
        bytes += fs::file_size(source->resolved) / all * runs + kHousekeeping;
    }
    return bytes;
}

// What a reader would refuse is not taken in. A failure of the system (a full disk) is the new file's; any
// other the old one's.
void copy_run(const Entry& entry, const hdf5::Group& runs) {
    try {
        take_run(entry.source->runs, entry.id, runs, entry.new_id);
    } catch (const base::DataError& error) {
        throw RunDamage(entry.source->path, entry.id, error.what());
    } catch (const base::Hdf5Error& error) {
        if (std::string_view(error.what()).find("errno = ") != std::string_view::npos) throw;
        throw RunDamage(entry.source->path, entry.id, error.what());
    }
    if (entry.new_id != entry.id) runs.open_group(entry.new_id).set_text(kOldId, entry.id);
}

void check_written(const fs::path& path, const std::vector<Entry>& entries) {
    const auto stored = opened(path, [](const hdf5::Group& runs) { return runs.members(); });
    const bool all = stored.size() == entries.size() &&
                     std::equal(stored.begin(), stored.end(), entries.begin(),
                                [](const std::string& id, const Entry& entry) { return id == entry.new_id; });
    if (!all) throw base::Error(fmt::format("the runs in {} are not those that were written", path.string()));
}

// Writes them in that order. What else `base`, the file that is replaced, holds comes along.
void write_entries(StagedFile& staged, const Source* base, const std::vector<Entry>& entries) {
    staged.reserve(room_for(entries));
    hdf5::File file = create_empty(staged.path(), base == nullptr ? "" : created_utc(base->root));
    const hdf5::Group root = file.root();
    const hdf5::Group runs = root.open_group("runs");
    if (base != nullptr) take_rest(base->root, root);
    for (const auto& entry : entries) copy_run(entry, runs);
    file.close();
    check_written(staged.path(), entries);
}

// Collects the runs of several files, each id once.
class Collection {
  public:
    // In the words of `merge`.
    Merged add(const Source& source) {
        Merged merged{source.path, 0, 0, {}};
        for (auto& entry : entries_of(source))
            of_run(source.path, entry.id, [&] {
                entry.started_utc = source.runs.open_group(entry.id).text_attribute("started_utc");
                add(entry, merged);
                return true;
            });
        return merged;
    }

    std::vector<Entry> by_start() const {
        std::vector<Entry> sorted = entries_;
        std::ranges::stable_sort(
            sorted, [](const Entry& a, const Entry& b) { return a.started_utc < b.started_utc; });
        return sorted;
    }

  private:
    void add(Entry& entry, Merged& merged) {
        if (places_.contains(entry.id)) {
            const auto contents = contents_of(entry);
            if (!rename(entry, contents)) {
                ++merged.known;
                return;
            }
        }
        if (entry.new_id != entry.id) merged.renamed.emplace_back(entry.id, entry.new_id);
        ++merged.added;
        places_[entry.new_id] = entries_.size();
        entries_.push_back(entry);
    }

    // False where this very run is there under one of the names that it could have.
    bool rename(Entry& entry, const hdf5::Contents& contents) const {
        const std::string start = entry.id.substr(0, entry.id.rfind('-'));
        std::uint64_t hash = base::fingerprint(contents.bytes);
        for (auto taken = places_.find(entry.id); taken != places_.end();
             taken = places_.find(entry.new_id)) {
            const auto there = contents_of(entries_[taken->second]);
            if (contents.comparable && there.comparable && contents.bytes == there.bytes) return false;
            entry.new_id = fmt::format("{}-{:06x}", start, hash++ & 0xffffffU);
        }
        return true;
    }

    static hdf5::Contents contents_of(const Entry& entry) {
        return hdf5::contents_of(entry.source->runs.open_group(entry.id), kOldId);
    }

    std::vector<Entry> entries_;
    std::map<std::string, std::size_t> places_;  // by new id
};

}  // namespace

std::vector<Merged> merge(const fs::path& out, const std::vector<fs::path>& files, const LockWait& wait) {
    const hdf5::LibraryUse use(names_of(out, files));
    std::vector<std::unique_ptr<Source>> sources;
    for (const auto& file : files) sources.push_back(open_source(file));
    std::vector<Merged> merged;
    const auto fill = [&](const Staging& staging) {
        merged.clear();
        Collection runs;
        std::unique_ptr<Source> base;
        if (!staging.fresh) {
            base = open_source(staging.target);
            static_cast<void>(runs.add(*base));
            staging.staged.copy_permissions();
        }
        for (const auto& source : sources) merged.push_back(runs.add(*source));
        write_entries(staging.staged, base.get(), runs.by_start());
    };
    replace(out, fill, wait);
    return merged;
}

void export_runs(const fs::path& file, const std::set<std::string>& ids, const fs::path& out,
                 const LockWait& wait) {
    const hdf5::LibraryUse use(file.string());
    const auto source = open_source(file);
    const auto fill = [&](const Staging& staging) {
        if (!staging.fresh)
            throw base::OptionError(fmt::format(
                "{} is there already; name another, or use `ranklab results merge`", out.string()));
        auto entries = entries_of(*source);
        std::erase_if(entries, [&](const Entry& entry) { return !ids.contains(entry.id); });
        write_entries(staging.staged, nullptr, entries);
    };
    replace(out, fill, wait);
}

void remove_runs(const fs::path& file, const std::set<std::string>& ids, const LockWait& wait) {
    const hdf5::LibraryUse use(file.string());
    existing(file);
    const auto fill = [&](const Staging& staging) {
        const auto source = open_source(staging.target);
        auto entries = entries_of(*source);
        std::erase_if(entries, [&](const Entry& entry) { return ids.contains(entry.id); });
        staging.staged.copy_permissions();
        write_entries(staging.staged, source.get(), entries);
    };
    replace(file, fill, wait);
}

}  // namespace ranklab::results
