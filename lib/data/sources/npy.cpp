#include "data/formats/npy.hpp"
#include "data/arrays.hpp"

namespace ranklab::data {

SourceEntry npy_entry() {
    return {.name = "npy",
            .summary = "your own samples in npy files, for your own network",
            .own_files = true,
            .open = [](const DataRequest& request, comm::Communicator& control) {
                return open_own(request, control,
                                [](const std::string& name) { return open_npy_rows(name); });
            }};
}

}  // namespace ranklab::data
