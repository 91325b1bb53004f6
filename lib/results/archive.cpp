#include "results/result_file.hpp"

#include <algorithm>
#include <functional>
#include <memory>

#include "results/access.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

struct Source {
    explicit Source(const fs::path& named)
        : path(named), file(open_results(path)), runs(file.root().open_group("runs")) {}

    fs::path path;
    hdf5::File file;
    hdf5::Group runs;
};

std::unique_ptr<Source> open_source(const fs::path& path) {
    return with_file_context(path, [&] { return std::make_unique<Source>(path); });
}

// A run to copy.
struct Entry {
    const Source* source;
    std::string id;
    std::string started_utc;
};

std::vector<Entry> entries_of(const Source& source,
                              const std::function<bool(const std::string&)>& wanted) {
    return with_file_context(source.path, [&] {
        std::vector<Entry> entries;
        for (const auto& id : source.runs.members())
            if (wanted(id))
                entries.push_back(of_run(source.path, id, [&] {
                    return Entry{&source, id,
                                 source.runs.open_group(id).text_attribute("started_utc")};
                }));
        return entries;
    });
}

// Reads each run before copying it: a damaged run throws RunDamage.
void copy_runs(const std::vector<Entry>& entries, hdf5::File file) {
    const hdf5::Group to = file.root().open_group("runs");
    for (const auto& [source, id, started_utc] : entries) {
        static_cast<void>(load_run(source->path, source->runs, id));
        source->runs.copy_member(id, to);
    }
    file.close();
}

// Upper bound of the bytes that all runs of the sources take.
std::uint64_t room_for(const std::vector<std::unique_ptr<Source>>& sources) {
    std::uint64_t bytes = kMetadataBytes;
    for (const auto& source : sources) bytes += fs::file_size(source->path);
    return bytes;
}

}  // namespace

Inspection inspect(const fs::path& file) {
    return reading(file, [&](const hdf5::Group& runs) {
        Inspection found;
        found.bytes = fs::file_size(file);
        for (const auto& id : runs.members()) {
            ++found.runs;
            try {
                static_cast<void>(load_run(file, runs, id));
                found.whole.insert(id);
            } catch (const RunDamage& damage) {
                found.damaged.push_back(damage);
            }
        }
        return found;
    });
}

std::vector<Merged> merge(const fs::path& out, const std::vector<fs::path>& files,
                          double lock_timeout_s) {
    std::vector<std::unique_ptr<Source>> sources;
    std::ranges::transform(files, std::back_inserter(sources), open_source);
    std::vector<Merged> merged;
    replace(out, lock_timeout_s, [&](StagedFile& staged, bool fresh) {
        const auto there = fresh ? nullptr : open_source(staged.target());
        std::set<std::string> known;
        if (there)
            for (const auto& id : there->runs.members()) known.insert(id);
        std::vector<Entry> added;
        for (const auto& source : sources) {
            const auto all = source->runs.members().size();
            const auto unknown = entries_of(*source, [&](const auto& id) {
                if (known.insert(id).second) return true;
                if (there && there->runs.has(id))  // throws if the copy is damaged
                    static_cast<void>(load_run(there->path, there->runs, id));
                return false;
            });
            added.insert(added.end(), unknown.begin(), unknown.end());
            merged.push_back({source->path, unknown.size(), all - unknown.size()});
        }
        std::ranges::stable_sort(added, {}, &Entry::started_utc);

        if (there) staged.copy_target();
        staged.reserve(room_for(sources));
        const fs::path& next = staged.path();
        copy_runs(added, there ? hdf5::File::open_to_change(next) : create_empty(next));
    });
    return merged;
}

void export_runs(const fs::path& file, const std::set<std::string>& ids, const fs::path& out,
                 double lock_timeout_s) {
    const auto source = open_source(file);
    replace(out, lock_timeout_s, [&](StagedFile& staged, bool fresh) {
        if (!fresh)
            throw base::OptionError(
                fmt::format("{} exists already; name another file, or use `ranklab results merge`",
                            out.string()));
        staged.reserve(fs::file_size(file));
        copy_runs(entries_of(*source, [&](const auto& id) { return ids.contains(id); }),
                  create_empty(staged.path()));
    });
}

}  // namespace ranklab::results
