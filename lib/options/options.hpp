// The options that a user gave, checked against a Schema and merged (command line > config file >
// default). A program reads the options as a struct (Options::fields), settles what the user left
// open, and shows the settled struct (effective).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options/schema.hpp"

namespace ranklab::options {

/// An option with the value that the run uses.
struct Effective {
    const Option* row;  ///< in the schema given to effective()
    std::string value;

    bool operator==(const Effective&) const = default;
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

/// Returns 0.025 for an option's "2.5%" or "2.5 %". Throws OptionError unless 0 % < text < 100 %.
double fraction(const std::string& option, const std::string& text);

/// The options of one program run, as given. Immutable.
class Options {
  public:
    /// Reads argv[1..]. The last of a repeated option wins. Throws OptionError for an unknown
    /// option (naming the nearest known one), a missing or impossible value, too many positional
    /// arguments, or an option together with the one that it replaces (Schema::instead_of).
    static Options parse(const Schema& schema, const std::vector<std::string>& arguments);

    /// Adds the values of an INI file's text (`key = value`, `#` comments, no sections) for options
    /// that the command line does not set. Throws OptionError naming `path` and key for invalid
    /// contents.
    Options with_config(const std::string& path, const std::string& text) const;

    const std::vector<std::string>& positional() const { return positional_; }

    /// Returns a Struct with the values of the options that are bound to it. A member whose option
    /// has neither a given value nor a default keeps its initial value.
    template <class Struct>
    Struct fields() const {
        Struct fields;
        for (const auto& option : schema_.all()) {
            if (!is_bound_to<Struct>(option)) continue;
            if (const auto* text = text_of(option)) option.field.assign(&fields, *text);
        }
        return fields;
    }

    /// Names and texts of the given options that are bound to no struct: the command line of
    /// another program.
    std::vector<std::pair<std::string, std::string>> unbound() const;

    /// All options that are bound to these structs, with the structs' values. Effective::row points
    /// into this object.
    template <class... Structs>
    std::vector<Effective> effective(const Structs&... settled) const {
        return options::effective(schema_, settled...);
    }
    /// True if the user gave the option a value.
    bool sets(const Effective& option) const { return user_.contains(option.row->name); }
    /// True if the user set the option to a value that is not its default.
    bool asks(const Effective& option) const {
        return sets(option) && option.value != option.row->fallback;
    }
    /// Throws OptionError if an option needs another that is not given, or excludes a given one.
    /// `settled`: all structs to which the options are bound.
    template <class... Structs>
    void check_relations(const Structs&... settled) const {
        check_relations(effective(settled...));
    }

  private:
    explicit Options(const Schema& schema) : schema_(schema) {}
    void check_relations(const std::vector<Effective>& settled) const;
    bool triggers(const Effective& option, const Relation& relation) const;
    bool holds(const Effective* other, const Relation& relation) const;
    void set(const Option& option, std::string value, const std::string& source);
    /// The user's text or the default; nullptr if there is neither.
    const std::string* text_of(const Option& option) const;
    bool is_overruled(const Option& option) const;
    void refuse_two_of_one() const;

    Schema schema_;
    std::map<std::string, std::string> user_;  // by option
    std::vector<std::string> positional_;
};

}  // namespace ranklab::options
