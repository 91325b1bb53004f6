// The options of a program: declared once in a Schema, merged from command line > config file >
// default. Only this room uses Boost. Every value keeps its text, which is checked when it is
// parsed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "options/schema.hpp"

namespace ranklab::options {

/// The values of one run. Access to a name that the schema lacks, or to an unset value, is a bug
/// (throws Error).
class Options {
  public:
    /// Reads argv[1..]; the last of a repeated option wins. OptionError for an unknown option
    /// (naming the nearest right one), a missing or impossible value, or too many words.
    static Options parse(const Schema& schema, const std::vector<std::string>& arguments);

    /// Adds the values of an INI file (`key = value`, `#` comments, no sections) that the command
    /// line does not set. OptionError naming file and key for invalid contents.
    void read_config(const std::string& path);

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
            if (is_bound<Struct>(option) && has(option.name))
                option.field.assign(&fields, text(option.name));
        return fields;
    }
    /// The other way round: from now on the options have the fields' values.
    template <class Struct>
    void settle(const Struct& fields) {
        for (const auto& option : schema_.all()) {
            if (!is_bound<Struct>(option)) continue;
            if (has(option.name) && option.field.equals(&fields, text(option.name))) continue;
            if (auto value = option.field.text(&fields)) change(option.name, std::move(*value));
        }
    }

    /// The value, or another where it has none.
    std::string text_or(const std::string& name, const std::string& other) const;
    std::int64_t integer_or(const std::string& name, std::int64_t other) const;

    /// Where two options mean the same (Option::instead_of), the command line's wins and the config
    /// file's is dropped; OptionError if both come from the same place.
    void drop_overruled();
    /// OptionError where an option lacks one that it needs, or meets one that it excludes. To be
    /// called once all are settled.
    void check_relations() const;

    /// Sets the resolved value of an option that the user left open, so that the effective
    /// configuration shows it.
    void resolve(const std::string& name, std::string value);

    /// All options with a value, in the schema's order: the effective configuration.
    struct Effective {
        std::string name;
        std::string value;
        Type type;
        Role role;
        bool asked;      ///< by the user, and not what it is anyway
        bool in_header;  ///< Option::in_header
    };
    std::vector<Effective> effective() const;

    /// The options' values as text, for another rank.
    std::string serialise() const;
    void adopt(const std::string& serialised);

  private:
    template <class Struct>
    static bool is_bound(const Option& option) {
        return option.field.owner != nullptr && *option.field.owner == typeid(Struct);
    }
    void change(const std::string& name, std::string value) {
        (is_set(name) ? user_ : resolved_)[name] = std::move(value);
    }
    void prefer_one_of(const std::string& one, const std::string& other);
    explicit Options(const Schema& schema) : schema_(schema) {}
    void set(const std::string& name, std::string value, const std::string& source);

    Schema schema_;
    std::map<std::string, std::string> user_;
    std::set<std::string> from_command_line_;
    std::map<std::string, std::string> resolved_;
    std::vector<std::string> positional_;
};

}  // namespace ranklab::options
