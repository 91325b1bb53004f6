#include "fuzz/tool_verbs.hpp"

#include "app/guarded.hpp"
#include "base/error.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "comm/self.hpp"
#include "experiments/data_sets/data_sets.hpp"

namespace ranklab::fuzz {
namespace {

class Silent final : public base::ProgressSink {
  public:
    void update(std::int64_t, std::int64_t, double, std::string_view, std::string_view) override {}
    void activity(std::string_view) override {}
    void finish() override {}
};

int run_verb(experiments::Verb& verb, const std::vector<std::string>& words) {
    options::Schema schema;
    verb.describe(schema);
    auto options = options::Options::parse(schema, words);
    const auto control = comm::make_self();
    static_cast<void>(verb.resolve(options, 1));
    Silent progress;
    const auto report = verb.run({{*control, options, progress}, "fuzz"});
    if (!report.wrong.empty()) throw base::DataError(report.wrong);
    return 0;
}

}  // namespace

int run_data(const std::string& verb, const std::vector<std::string>& words, Judge& judge,
             const std::set<int>& codes) {
    const auto outcome = judge.expect("ranklab data " + verb + " " + base::join(words, " "), codes, [&] {
        return app::guarded([&] {
            for (const auto& one : experiments::DataSetsTool().verbs())
                if (one->words() == verb) return run_verb(*one, words);
            throw std::logic_error("there is no verb " + verb);
        });
    });
    return outcome.code;
}

}  // namespace ranklab::fuzz
