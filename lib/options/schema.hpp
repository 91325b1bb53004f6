// The options of a program, a row each.
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

/// The role of an option: whether two runs that differ in it do the same work.
enum class Role {
    work,          ///< what is measured
    coordination,  ///< how ranks, or replicas, work together; means nothing on a single device
    scale,         ///< how many ranks take part
    length,        ///< how long is measured
    times,         ///< how often is measured
    aside,         ///< work outside of the counted
    kept,          ///< an extra file of the run, or files that stay
    bookkeeping,   ///< changes nothing that is measured
    request        ///< asks for something else than a run; is not stored
};

/// A relation between two options. Each counts if the user set it, and not to its default.
struct Relation {
    std::string other;
    /// The other option's values that count; empty: any, if it is given.
    std::vector<std::string> values = {};
    std::string because = {};           ///< a clause of the sentence
    std::vector<std::string> own = {};  ///< of this one, which are meant; none: that it is given
    /// In place of `values` and `own`: a property of catalogue entries, which Schema::offer turns
    /// into their names. Without an offer the relation does not count.
    std::string property = {}, own_property = {};
};
/// The names of the entries with a property: {"gpu-memory", {"nccl"}}.
using Properties = std::map<std::string, std::vector<std::string>>;

struct Option {
    std::string name;              ///< long name, without the dashes
    std::string placeholder = {};  ///< "N", "FILE", "a|b"
    std::string help;
    Type type = Type::text;
    std::optional<std::string> fallback = {};  ///< none: unset unless the user or resolve() sets it
    std::vector<std::string> choices = {};
    std::string file_suffix = {};  ///< of files that may be named instead of a choice, ".pt"
    double minimum = 0;            ///< of integer, real and bytes
    double maximum = std::numeric_limits<double>::infinity();  ///< of the same
    std::string section = {};
    char shorthand = 0;  ///< of one letter, on the command line alone; 0: none
    Role role = Role::work;
    bool in_header = false;  ///< a run's header shows it even where it is the default
    /// It has no meaning on a single device; always true with Role::coordination.
    bool between_ranks = false;
    bool follows_ranks = false;    ///< its default follows from how many ranks share a node
    bool decides_numbers = false;  ///< the parameters' values depend on it
    /// A rank computes the same on one sample, whatever the value: batches, learning rates.
    bool keeps_sample_work = false;
    bool essential = false;   ///< --help shows it; --help all shows the others too
    std::string bare = {};    ///< the value of the option's name alone; "": it needs one
    std::string former = {};  ///< the name in earlier versions: stored runs may have it
    std::vector<Relation> needs = {}, excludes = {};
    std::string instead_of = {};  ///< the other option that says the same in another way
    /// The behaviour of a run from before the option existed, and the other settings for which this
    /// holds (none named: all).
    std::vector<std::pair<std::string, Relation>> when_absent = {};
    Field field = {};  ///< of the program's struct
};

/// Marks of an option that Schema::bind takes.
namespace marks {
inline constexpr auto kEssential = &Option::essential;
inline constexpr auto kInHeader = &Option::in_header;
inline constexpr auto kBetweenRanks = &Option::between_ranks;
inline constexpr auto kFollowsRanks = &Option::follows_ranks;
inline constexpr auto kDecidesNumbers = &Option::decides_numbers;
inline constexpr auto kKeepsSampleWork = &Option::keeps_sample_work;
}  // namespace marks

/// Names of other programs' options that ranklab lacks, and advice what to do instead.
struct NoOption {
    std::vector<std::string> names;
    std::string advice;
};

/// Larger numbers are typing errors, and computing with them (bytes, seconds, products of two)
/// would overflow. An option that allows them says so: `{1, kWholeNumbers}`.
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

/// The options that a program accepts. The verbs add one option each to the section last named.
class Schema {
  public:
    using Fallback = std::optional<std::string>;

    Schema& section(std::string title);
    Schema& text(std::string name, std::string placeholder, Fallback fallback, std::string help);
    /// May be given several times; unset where it never is. Read by Options::texts().
    Schema& texts(std::string name, std::string placeholder, std::string help);
    Schema& choice(std::string name, std::vector<std::string> choices, Fallback fallback,
                   std::string help);
    Schema& integer(std::string name, WholeRange range, Fallback fallback, std::string help);
    Schema& real(std::string name, RealRange range, Fallback fallback, std::string help);
    /// Adds a number of bytes: "4096"; K M G T are 2^10, 2^20, ..., and so are KiB MiB GiB TiB; kB
    /// MB GB TB are 10^3, 10^6, ...
    Schema& bytes(std::string name, std::uint64_t minimum, Fallback fallback, std::string help);
    Schema& flag(std::string name, std::string help);

    /// The option last added has this short name too ("-n 5", "-n5"). Config files use long names.
    Schema& shorthand(char letter);
    /// Adds names that are options of other programs only: an error for one of them ends in
    /// `advice`.
    Schema& no_option(std::vector<std::string> names, std::string advice);
    /// Said where an option that takes one value is given several, separated by commas.
    Schema& no_lists(std::string advice);
    /// The option last added may stand without a value, which is then this one.
    Schema& bare(std::string value) { return change(&Option::bare, std::move(value)); }
    /// The choice last added also takes the name of a file that ends so.
    Schema& or_file(std::string suffix) { return change(&Option::file_suffix, std::move(suffix)); }
    /// The role of the option last added.
    Schema& role(Role role);
    /// Sets the name that the option last added had in earlier versions.
    Schema& formerly(std::string name) { return change(&Option::former, std::move(name)); }
    Schema& essential() { return change(&Option::essential, true); }
    Schema& needs(Relation relation);
    Schema& excludes(Relation relation);
    Schema& excludes_each(const std::vector<std::string>& others, const std::string& because = "") {
        for (const auto& other : others) excludes({.other = other, .because = because});
        return *this;
    }
    Schema& instead_of(std::string other) { return change(&Option::instead_of, std::move(other)); }
    Schema& when_absent(std::string value, Relation where = {});

    /// Sets the field for the value of the option last added (Options::fields, Options::settle),
    /// and the option's short name, Role and marks. kBetweenRanks comes after the Role.
    template <class Struct, class Value>
    Schema& bind(Value Struct::*member, auto... what) {
        (mark(what), ...);
        return change(&Option::field, options::field(member));
    }

    /// Words without dashes; at most `most` of them. They are read by Options::positional().
    Schema& positional(std::size_t most);

    /// Adds a row, into the section last named.
    Schema& add(Option option);
    /// All that another one has, behind its own; those of no section come into the one last named.
    Schema& append(const Schema& other);
    /// Some of them, into the section last named.
    Schema& take(const Schema& other, const std::vector<std::string>& names);
    /// Sets an option's choices, or its default, which another room knows. Throws Error for an
    /// unknown name.
    Schema& offer(const std::string& name, std::vector<std::string> choices,
                  const Properties& properties = {});
    Schema& fallback(const std::string& name, std::string value);

    const std::vector<Option>& all() const { return options_; }
    const std::vector<NoOption>& no_options() const { return no_options_; }
    const std::string& list_advice() const { return list_advice_; }
    const Option* find(const std::string& name) const;
    /// Throws Error where there is none: a bug.
    const Option& at(const std::string& name) const;
    std::size_t most_positional() const { return most_positional_; }
    /// The option lists, section by section, for --help: the essential ones and how many more there
    /// are, or all. Where none is essential, all.
    std::string help(bool all = true) const;

  private:
    void mark(char letter) { shorthand(letter); }
    void mark(Role of) { role(of); }
    void mark(bool Option::*one) { change(one, true); }
    Schema& number(Option option, double least, double most);
    Schema& change(auto Option::*field, auto value) {
        last().*field = std::move(value);
        return *this;
    }
    Option& last();

    std::vector<Option> options_;
    std::vector<NoOption> no_options_;
    std::string list_advice_;
    std::string section_;
    std::size_t most_positional_ = 0;
};

/// The text of an error for the user: its sentence and the options that mend it: "... (--output)".
/// A setting in capitals is a variable of the environment.
std::string user_message(const std::exception& error);
std::string user_message(std::string sentence, const base::Settings& settings);

}  // namespace ranklab::options
