// The words that a user gave: declared once in a Schema, merged from command line > config file >
// default, checked, and constant from there. Only this room uses Boost. A program reads them as the
// struct to which its rows are bound, settles that struct, and shows it by the same rows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "options/schema.hpp"

namespace ranklab::options {

/// An option with its settled value.
struct Effective {
    const Option* row;  ///< of the schema that it was made with
    std::string value;
};

template <class Struct>
bool is_bound_to(const Option& option) {
    return option.field.owner != nullptr && *option.field.owner == typeid(Struct);
}

/// Returns the options that have a value in the structs to which they are bound, in the schema's
/// order: what a header, a dry run and a stored run show.
template <class... Structs>
std::vector<Effective> effective(const Schema& schema, const Structs&... settled) {
    std::vector<Effective> all;
    for (const auto& option : schema.all()) {
        std::optional<std::string> value;
        static_cast<void>(
            ((is_bound_to<Structs>(option) && (value = option.field.text(&settled), true)) || ...));
        if (value) all.push_back({&option, std::move(*value)});
    }
    return all;
}

/// The values of one run. Access to a name that the schema lacks, or to an unset value, is a bug
/// (throws Error).
class Options {
  public:
    /// Reads argv[1..]; the last of a repeated option wins. OptionError for an unknown option
    /// (naming the nearest right one), a missing or impossible value, or too many words.
    static Options parse(const Schema& schema, const std::vector<std::string>& arguments);

    /// Returns the options with the values of an INI file's text (`key = value`, `#` comments, no
    /// sections) where the command line gives none. Throws OptionError naming `path` and key for
    /// invalid contents.
    Options with_config(const std::string& path, const std::string& text) const;

    bool has(const std::string& name) const;     ///< a value from anywhere
    bool is_set(const std::string& name) const;  ///< by the user: command line or config file
    const std::string& text(const std::string& name) const;
    /// All texts given for an option; empty where there are none.
    std::vector<std::string> texts(const std::string& name) const;
    std::int64_t integer(const std::string& name) const;
    double real(const std::string& name) const;
    std::uint64_t bytes(const std::string& name) const;
    bool flag(const std::string& name) const;
    bool is(const std::string& name, std::string_view value) const { return text(name) == value; }
    const std::vector<std::string>& positional() const { return positional_; }

    /// Returns the struct to whose fields rows are bound, with the values; an option without a
    /// value leaves its field as it is.
    template <class Struct>
    Struct fields() const {
        Struct fields;
        for (const auto& option : schema_.all())
            if (is_bound_to<Struct>(option) && has(option.name))
                option.field.assign(&fields, text(option.name));
        return fields;
    }
    /// The value, or another where it has none.
    std::string text_or(const std::string& name, const std::string& other) const;
    std::int64_t integer_or(const std::string& name, std::int64_t other) const;

    /// All bound options as they are settled. The rows are this object's.
    template <class... Structs>
    std::vector<Effective> effective(const Structs&... settled) const {
        return options::effective(schema_, settled...);
    }
    /// True if the user set the option to a value that is not its default.
    bool asks(const Effective& option) const {
        return is_set(option.row->name) && option.value != option.row->fallback;
    }
    /// Throws OptionError if an option lacks one that it needs, or excludes another one. `settled`:
    /// all structs to which the options are bound.
    template <class... Structs>
    void check_relations(const Structs&... settled) const {
        check_relations(effective(settled...));
    }

  private:
    explicit Options(const Schema& schema) : schema_(schema) {}
    void check_relations(const std::vector<Effective>& settled) const;
    void set(const std::string& name, std::string value, const std::string& source);
    bool is_overruled(const Option& option) const;
    void refuse_two_of_one() const;

    Schema schema_;
    std::map<std::string, std::string> user_;  // by option
    std::vector<std::string> positional_;
};

}  // namespace ranklab::options
