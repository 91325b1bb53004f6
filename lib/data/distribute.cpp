#include "data/distribute.hpp"

#include "comm/exchange.hpp"

namespace ranklab::data {
namespace {

void broadcast_bytes(comm::Communicator& control, std::vector<std::uint8_t>& bytes) {
    auto count = static_cast<std::int64_t>(bytes.size());
    control.broadcast(comm::view(std::span(&count, 1)), 0);
    bytes.resize(static_cast<std::size_t>(count));
    control.broadcast(comm::view(std::span(bytes)), 0);
}

}  // namespace

DataSets load_on_all(comm::Communicator& control, const SourceEntry& source, const DataRequest& request) {
    DataSets sets;
    comm::together(control, [&] {
        if (control.rank() == 0) sets = source.load(request);
    });
    for (ImageSet* set : {&sets.train, &sets.test}) {
        set->shape = request.shape;
        set->classes = request.classes;
        broadcast_bytes(control, set->images);
        broadcast_bytes(control, set->labels);
    }
    sets.origin = comm::broadcast_text(control, sets.origin, 0);
    return sets;
}

}  // namespace ranklab::data
