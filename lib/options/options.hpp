// The options of a program: declared once in a Schema, merged from command line > config file > default.
// The only room with Boost. Every value keeps its text; typed access was checked when it was parsed.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ranklab::options {

enum class Type { text, texts, choice, integer, real, bytes, flag };

struct Option {
    std::string name;         ///< long name, without the dashes
    std::string placeholder;  ///< "N", "FILE", "a|b"
    std::string help;
    Type type = Type::text;
    std::optional<std::string> fallback;  ///< none: unset unless the user or resolve() sets it
    std::vector<std::string> choices;
    double minimum = 0;                                        ///< of integer, real and bytes
    double maximum = std::numeric_limits<double>::infinity();  ///< of the same
    std::string section;
    char shorthand = 0;  ///< of one letter, on the command line alone; 0: none
};

/// Beyond these a number is a slip of the keyboard, and what is computed from it (bytes, seconds, products of
/// two) would no longer be a number. An option that means them says so: `{1, kWholeNumbers}`.
inline constexpr std::int64_t kMostWhole = 1'000'000'000'000;
inline constexpr double kMostReal = 1e15;
inline constexpr std::int64_t kWholeNumbers = std::numeric_limits<std::int64_t>::max();

/// What an option takes: `least` alone, or {least, most}.
struct WholeRange {
    WholeRange(std::int64_t from, std::int64_t to = kMostWhole)  // NOLINT(google-explicit-constructor)
        : least(from), most(to) {}
    std::int64_t least, most;
};
struct RealRange {
    RealRange(double from, double to = kMostReal)  // NOLINT(google-explicit-constructor)
        : least(from), most(to) {}
    double least, most;
};

/// What a program accepts. The verbs add one option each to the section last named.
class Schema {
  public:
    Schema& section(std::string title);
    Schema& text(std::string name, std::string placeholder, std::optional<std::string> fallback,
                 std::string help);
    /// May be given several times; unset where it never is. Read by Options::texts().
    Schema& texts(std::string name, std::string placeholder, std::string help);
    Schema& choice(std::string name, std::vector<std::string> choices, std::optional<std::string> fallback,
                   std::string help);
    Schema& integer(std::string name, WholeRange range, std::optional<std::string> fallback,
                    std::string help);
    Schema& real(std::string name, RealRange range, std::optional<std::string> fallback, std::string help);
    /// A number of bytes: "4096"; K M G T are 2^10, 2^20, ..., and so are KiB MiB GiB TiB; kB MB GB TB are
    /// 10^3, 10^6, ...
    Schema& bytes(std::string name, std::uint64_t minimum, std::optional<std::string> fallback,
                  std::string help);
    Schema& flag(std::string name, std::string help);
    /// The option last added has this short name too ("-n 5", "-n5"). Config files use long names.
    Schema& shorthand(char letter);
    /// Words without dashes; at most `most` of them. They are read by Options::positional().
    Schema& positional(std::size_t most);

    const std::vector<Option>& all() const { return options_; }
    const Option* find(const std::string& name) const;
    std::size_t most_positional() const { return most_positional_; }
    /// The option lists, section by section, for --help.
    std::string help() const;

  private:
    Schema& add(Option option);

    std::vector<Option> options_;
    std::string section_;
    std::size_t most_positional_ = 0;
};

/// The values of one run. Access to a name that the schema lacks, or to an unset value, is a bug (throws
/// Error).
class Options {
  public:
    /// Reads argv[1..]; the last of a repeated option wins. Throws OptionError for an unknown option (naming
    /// the nearest right one), a missing or impossible value, or too many words.
    static Options parse(const Schema& schema, const std::vector<std::string>& arguments);

    /// Adds what an INI file (`key = value`, `#` comments, no sections) sets and the command line does not.
    /// Throws OptionError naming file and key for anything it should not hold.
    void read_config(const std::string& path);

    bool has(const std::string& name) const;     ///< a value from anywhere
    bool is_set(const std::string& name) const;  ///< by the user: command line or config file
    const std::string& text(const std::string& name) const;
    std::vector<std::string> texts(const std::string& name) const;  ///< empty where it was never given
    std::int64_t integer(const std::string& name) const;
    double real(const std::string& name) const;
    std::uint64_t bytes(const std::string& name) const;
    bool flag(const std::string& name) const;
    const std::vector<std::string>& positional() const { return positional_; }

    /// Two options of which one is given. The command line's wins over the config file's, which is then
    /// dropped; throws OptionError if both come from the same place.
    void prefer_one_of(const std::string& one, const std::string& other);

    /// Gives an option that the user left open its resolved value, so that the effective configuration shows
    /// it.
    void resolve(const std::string& name, std::string value);
    /// The same unless the user set it.
    void resolve_default(const std::string& name, std::string value) {
        if (!is_set(name)) resolve(name, std::move(value));
    }

    /// Of a resolved value: OptionError where the user could not have said it.
    void check(const std::string& name) const;

    /// As if the command line said it, for one run of several. OptionError for an impossible value.
    void choose(const std::string& name, const std::string& value);

    /// All options with a value, in the schema's order: the effective configuration.
    struct Effective {
        std::string name;
        std::string value;
        Type type;
    };
    std::vector<Effective> effective() const;

    /// The same options on another rank: values only.
    std::string serialise() const;
    void adopt(const std::string& serialised);

  private:
    explicit Options(const Schema& schema) : schema_(schema) {}
    void set(const std::string& name, std::string value, const std::string& source);

    Schema schema_;
    std::map<std::string, std::string> user_;
    std::set<std::string> from_command_line_;
    std::map<std::string, std::string> resolved_;
    std::vector<std::string> positional_;
};

}  // namespace ranklab::options
