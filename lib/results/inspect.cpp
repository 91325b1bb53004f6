#include <filesystem>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "results/archive.hpp"
#include "results/opened.hpp"

namespace ranklab::results {
namespace {

// Why `take(root)` fails on an empty file in memory, if it does.
template <class Take>
std::optional<std::string> failure_of(Take take) {
    try {
        const hdf5::File scratch = hdf5::File::create_in_memory();
        const hdf5::Group root = scratch.root();
        root.create_large_group("runs");
        take(root);
        return std::nullopt;
    } catch (const base::Error& error) {
        return error.what();
    }
}

std::optional<std::string> damage_of_run(const hdf5::Group& runs, const std::string& id, Inspection& found) {
    return failure_of(
        [&](const hdf5::Group& root) { found.datasets += take_run(runs, id, root.open_group("runs"), id); });
}

std::optional<std::string> damage_of_rest(const hdf5::Group& root) {
    return failure_of([&](const hdf5::Group& to) {
        static_cast<void>(created_utc(root));
        take_rest(root, to);
    });
}

}  // namespace

Inspection inspect(const std::filesystem::path& file) {
    const std::filesystem::path resolved = existing(file);
    const hdf5::LibraryUse use(resolved.string());
    return speaking_of(resolved, [&] {
        const hdf5::File opened = open_results(resolved);
        const hdf5::Group root = opened.root();
        const hdf5::Group runs = root.open_group("runs");
        Inspection found;
        found.bytes = std::filesystem::file_size(resolved);
        for (const auto& id : runs.members()) {
            ++found.runs;
            if (const auto damage = damage_of_run(runs, id, found))
                found.damaged.push_back({id, *damage});
            else
                found.whole.insert(id);
        }
        found.rest = damage_of_rest(root).value_or("");
        return found;
    });
}

}  // namespace ranklab::results
