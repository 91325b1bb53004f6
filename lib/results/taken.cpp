#include "results/taken.hpp"

#include "hdf5/contents.hpp"
#include "results/store.hpp"

namespace ranklab::results {

std::size_t take_run(const hdf5::Group& from, const std::string& id, const hdf5::Group& to,
                     const std::string& new_id) {
    static_cast<void>(load(from, id, Detail::all));
    return hdf5::copy_group(from, id, to, new_id);
}

void take_rest(const hdf5::Group& from, const hdf5::Group& to) {
    hdf5::copy_missing(from, to, "runs");
    hdf5::copy_attributes(from.open_group("runs"), to.open_group("runs"));
}

std::string created_utc(const hdf5::Group& root) {
    return root.text_attribute("created_utc");
}

}  // namespace ranklab::results
