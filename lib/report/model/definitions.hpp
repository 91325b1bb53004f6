// Private to this room: what each measured quantity is, in a sentence; docs/measurement.md, docs/io.md and
// docs/overlap.md say more.
#pragma once

#include <span>
#include <string>

namespace ranklab::report::model {

struct Definition {
    const char* name;
    const char* unit;
    const char* text;  ///< with its formula
};
std::span<const Definition> definitions();
/// nullptr where there is none of that name.
const Definition* find_definition(const std::string& name);

}  // namespace ranklab::report::model
