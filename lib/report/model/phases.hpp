// Private to this room: which measurements are parts of which, and in what order.
#pragma once

#include <string>
#include <vector>

namespace ranklab::report::model {

/// The phases of a training step, in their order; sync is measured as what of it is exposed.
const std::vector<std::string>& step_phases();
/// The phases of writing files, in the order in which a record meets them.
const std::vector<std::string>& io_phases();

/// The time that phases are parts of, and they: of a training step, or of a repetition of `io`.
struct Whole {
    std::string name;
    const std::vector<std::string>* phases = nullptr;
};
const std::vector<Whole>& wholes();

}  // namespace ranklab::report::model
