// Which of a file's runs are meant.
#pragma once

#include <string>
#include <vector>

#include "results/result_file.hpp"

namespace ranklab::report::model {

/// What `key` is of the run, as text: a setting ("model"), a field of the run (id, command, label, version,
/// git_revision, exit_code, cut_short, valid: 0 or 1), `ranks` or `nodes` (of the hosts that took part), or a
/// fact of the context ("machine.kernel": section.key). A setting goes first. "" where it has none.
std::string value_of(const results::Run& run, const std::string& key);

/// OptionError for a key that neither the vocabulary nor a run of these files has. Of files without runs
/// nothing is refused.
void refuse_unknown_keys(const std::vector<std::string>& keys, const std::vector<results::ResultFile>& files);

/// OptionError for a measurement that neither the vocabulary nor a run of these files has. Of files without
/// measurements nothing is refused.
void refuse_unknown_measurements(const std::vector<std::string>& names,
                                 const std::vector<results::ResultFile>& files);

/// Runs that meet all of several conditions, each KEY=VALUE, KEY!=VALUE, or with < <= > >= where both are
/// numbers; VALUE may list alternatives (a,b) and end in * for "begins with".
class Selection {
  public:
    /// OptionError where it is no condition, or an order relation has no number.
    explicit Selection(const std::vector<std::string>& conditions);

    /// Looks at settings, hosts and context, not at measurements.
    bool matches(const results::Run& run) const;
    bool everything() const { return conditions_.empty(); }
    std::vector<std::string> keys() const;

  private:
    struct Condition {
        std::string key;
        std::string relation;
        std::vector<std::string> values;
    };
    static Condition parse(const std::string& text);
    static bool holds(const Condition& condition, const std::string& actual);

    std::vector<Condition> conditions_;
};

}  // namespace ranklab::report::model
