// Private to this room: templates filled with data. What a results file holds may come from anywhere: it
// reaches a page by {{name}} alone, which escapes it.
#pragma once

#include <kainjow/mustache.hpp>
#include <string>
#include <string_view>

#include "report/figures/words.hpp"

namespace ranklab::report::page {

using Data = kainjow::mustache::data;
using Object = kainjow::mustache::object;
using List = kainjow::mustache::list;

/// The template of that name with those that it names by {{> other}} in it.
std::string filled(std::string_view name, const Data& data);

/// Fit for an element's text and for a quoted attribute: markup, control characters, broken UTF-8 and marks
/// that turn the direction of writing are replaced.
std::string escape(std::string_view text);

/// For words.html, whose data they are; and an object with them and nothing else, for a cell.
List words_data(const figures::Words& words);
Data cell_data(const figures::Words& words);
/// A text, or false where it is empty: a section of a template is then left out.
Data if_any(const std::string& text);

}  // namespace ranklab::report::page
