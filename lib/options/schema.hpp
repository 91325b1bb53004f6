// The options of a program, one row per option.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "options/field.hpp"

namespace ranklab::options {

enum class Type { text, texts, choice, integer, real, bytes, flag };

/// The role of an option, which decides how runs that differ in it are compared.
enum class Role {
    work,          ///< what is measured
    coordination,  ///< how ranks, or replicas, work together; means nothing on a single device
    scale,         ///< how many ranks take part
    length,        ///< how long the run measures
    times,         ///< how often the run measures
    aside,         ///< work beside the measured work, such as evaluation
    kept,          ///< an extra output file, or files that are not removed
    bookkeeping,   ///< no effect on what is measured
    request        ///< a request other than a run, such as --help; not stored
};

/// A relation between two options. Applies if the user set the first option to a non-default
/// value.
struct Relation {
    std::string other;
    /// The other option's values for which the relation applies; empty: any but the default.
    std::vector<std::string> values = {};
    std::string because = {};           ///< the reason, as a clause of the message
    std::vector<std::string> own = {};  ///< the first option's values that trigger it; empty: any
    /// Instead of `values` and `own`: a property of catalogue entries, which Schema::offer replaces
    /// by the entries' names. Without an offer the relation does not apply.
    std::string property = {}, own_property = {};
};
/// The names of the catalogue entries that have a property: {"gpu-memory", {"nccl"}}.
using Properties = std::map<std::string, std::vector<std::string>>;

struct Option {
    std::string name;              ///< long name, without the dashes
    std::string placeholder = {};  ///< "N", "FILE", "a|b"
    std::string unit = {};         ///< of real, in messages: "seconds"
    std::string help;
    Type type = Type::text;
    std::optional<std::string> fallback = {};  ///< the default; nullopt: none
    std::vector<std::string> choices = {};
    std::string file_suffix = {};  ///< of files accepted instead of a choice: ".pt", ".py,.so"
    double minimum = 0;            ///< of integer, real and bytes
    double maximum = std::numeric_limits<double>::infinity();  ///< of integer, real and bytes
    std::string section = {};
    char shorthand = 0;  ///< a letter, on the command line only; 0: none
    Role role = Role::work;
    bool in_header = false;  ///< shown in a run's header even if it is the default
    /// The option means nothing on a single device; always true with Role::coordination.
    bool between_ranks = false;
    bool follows_ranks = false;    ///< the default depends on the number of ranks on a node
    bool decides_numbers = false;  ///< changes the trained model's parameters
    /// True if its value does not change a rank's work per sample, as for batch sizes and learning
    /// rates.
    bool keeps_sample_work = false;
    bool reads_files = false;  ///< its value names a folder or comma-separated files to read
    bool essential = false;    ///< in --help; other options only in --help all
    std::string bare = {};     ///< the value if given without one; "": a value is required
    std::string former = {};   ///< its name in older versions, which stored runs may have
    std::vector<Relation> needs = {}, excludes = {};
    std::string instead_of = {};  ///< an option that this one replaces
    /// For runs stored by versions without the option: values to assume, each with a condition on
    /// another option (none named: always). The first value whose condition holds is taken.
    std::vector<std::pair<std::string, Relation>> when_absent = {};
    Field field = {};  ///< of the program's struct
};

/// Flags of an option; passing one in a Bound makes it true.
namespace marks {
inline constexpr auto kEssential = &Option::essential;
inline constexpr auto kInHeader = &Option::in_header;
inline constexpr auto kBetweenRanks = &Option::between_ranks;
inline constexpr auto kFollowsRanks = &Option::follows_ranks;
inline constexpr auto kDecidesNumbers = &Option::decides_numbers;
inline constexpr auto kKeepsSampleWork = &Option::keeps_sample_work;
inline constexpr auto kReadsFiles = &Option::reads_files;
}  // namespace marks

/// Names of other programs' options that ranklab lacks, and advice what to do instead.
struct NoOption {
    std::vector<std::string> names;
    std::string advice;
};

/// The default upper limits. Larger numbers are typing errors, and bytes, seconds or products of
/// two options would overflow. An option may allow larger ones by its range: `{1, kWholeNumbers}`.
inline constexpr std::int64_t kMostWhole = 1'000'000'000'000;
inline constexpr double kMostReal = 1e15;
inline constexpr std::int64_t kWholeNumbers = std::numeric_limits<std::int64_t>::max();

/// The range of an option: `least` alone, or {least, most}.
struct WholeRange {
    WholeRange(std::int64_t from,
               std::int64_t to = kMostWhole)  // NOLINT(google-explicit-constructor)
        : least(from), most(to) {}
    std::int64_t least, most;
};
struct RealRange {
    RealRange(double from, double to = kMostReal)  // NOLINT(google-explicit-constructor)
        : least(from), most(to) {}
    double least, most;
};

/// The field of a program's struct that takes an option's value (Options::fields), and the option's
/// short name, Role and flags. The field's initial value is the option's default.
struct Bound {
    template <class Struct, class Value>
    Bound(Value Struct::*member, auto... what) {  // NOLINT(google-explicit-constructor)
        const Struct initial{};
        option.field = field(member);
        option.fallback = option.field.text(&initial);
        (mark(what), ...);
    }
    void mark(char letter) { option.shorthand = letter; }
    void mark(bool Option::*one) { option.*one = true; }
    void mark(Role role) {
        option.role = role;
        option.between_ranks |= role == Role::coordination;
    }

    Option option;
};

/// A program's options. text(), texts(), ..., flag() each add an option to the section last named.
class Schema {
  public:
    using Texts = std::vector<std::string>;

    Schema& section(std::string title);
    Schema& text(const std::string& name, Bound to, std::string placeholder, std::string help);
    /// Adds a text that may be given several times.
    Schema& texts(const std::string& name, Bound to, std::string placeholder, std::string help);
    Schema& choice(const std::string& name, Bound to, Texts choices, std::string help);
    Schema& integer(const std::string& name, Bound to, WholeRange range, std::string help);
    Schema& real(const std::string& name, Bound to, RealRange range, std::string help);
    /// Adds a number of bytes: "4096"; K M G T are 2^10, 2^20, ..., and so are KiB MiB GiB TiB; kB
    /// MB GB TB are 10^3, 10^6, ...
    Schema& bytes(const std::string& name, Bound to, std::uint64_t minimum, std::string help);
    Schema& flag(const std::string& name, Bound to, std::string help);

    /// Adds names that are options of other programs only: an error for one of them ends in
    /// `advice`.
    Schema& no_option(std::vector<std::string> names, std::string advice);
    /// Sets the advice for an option that takes one value, but is given several with commas.
    Schema& no_lists(std::string advice);
    /// Sets the value that the option last added gets if it is given without one.
    Schema& bare(std::string value) { return change(&Option::bare, std::move(value)); }
    /// Lets the choice last added also take the name of a file with this suffix.
    Schema& or_file(std::string suffix) { return change(&Option::file_suffix, std::move(suffix)); }
    /// Sets the unit of the number last added.
    Schema& in(std::string unit) { return change(&Option::unit, std::move(unit)); }
    /// Sets the name that the option last added had in earlier versions.
    Schema& formerly(std::string name) { return change(&Option::former, std::move(name)); }
    Schema& needs(Relation relation);
    Schema& excludes(Relation relation);
    Schema& instead_of(std::string other) { return change(&Option::instead_of, std::move(other)); }
    Schema& when_absent(std::string value, Relation where = {});

    /// Sets the number of positional arguments (Options::positional).
    Schema& positional(std::size_t most, std::size_t least = 0);

    /// Adds a finished row to the section last named. Throws Error if its short name is taken.
    Schema& add(Option option);
    /// Appends all options of another schema. Options without a section go to the section last
    /// named.
    Schema& append(const Schema& other);
    /// Appends the named options of another schema to the section last named.
    Schema& take(const Schema& other, const std::vector<std::string>& names);
    /// offer() sets an option's choices, fallback() its default. Throws Error for an unknown name.
    Schema& offer(const std::string& name, std::vector<std::string> choices,
                  const Properties& properties = {});
    Schema& fallback(const std::string& name, std::string value);

    const std::vector<Option>& all() const { return options_; }
    const std::vector<NoOption>& no_options() const { return no_options_; }
    const std::string& list_advice() const { return list_advice_; }
    const Option* find(const std::string& name) const;
    /// Throws Error for an unknown name: a bug.
    const Option& at(const std::string& name) const;
    std::size_t most_positional() const { return most_positional_; }
    std::size_t least_positional() const { return least_positional_; }
    /// The text of --help, by section: all options, or the essential ones (if there are any) with
    /// the number of the others.
    std::string help(bool all = true) const;

  private:
    Schema& row(Type type, const std::string& name, Bound to, std::string placeholder,
                std::string help);
    Schema& change(auto Option::*field, auto value) {
        options_.back().*field = std::move(value);
        return *this;
    }

    std::vector<Option> options_;
    std::vector<NoOption> no_options_;
    std::string list_advice_;
    std::string section_;
    std::size_t most_positional_ = 0, least_positional_ = 0;
};

/// An error's message with the options to change: "... (--output)". A setting in capitals is an
/// environment variable.
std::string user_message(const std::exception& error);
std::string user_message(std::string sentence, const base::Settings& settings);

}  // namespace ranklab::options
