#include "fuzz/grammar.hpp"

#include <fmt/format.h>

#include <array>

#include "app/command_line.hpp"

namespace ranklab::fuzz {
namespace {

using options::Option;
using options::Type;

constexpr std::array kPlaces{"none", "in.h5", "out.h5", ".", "", "/dev/null", "nothing/x", "in.h5/x", "\xff"};

std::string fitting(const Option& option, Random& random) {
    switch (option.type) {
        case Type::choice:
            return random.pick(option.choices);
        case Type::integer:
            return std::to_string(random.mostly_small(100));
        case Type::real:
            return fmt::format("{}", static_cast<double>(random.below(1000)) / 100);
        case Type::bytes:
            return std::to_string(1 + random.below(1000)) + "K";
        default:
            return option.choices.empty() ? random.pick(kPlaces) : random.pick(option.choices);
    }
}

// Several in a list, as many options take them.
std::string listed(const Option& option, Random& random) {
    std::string text = fitting(option, random);
    for (std::size_t i = random.mostly_small(random.chance(2) ? 5000 : 4); i > 0; --i)
        text += "," + (random.chance(50) ? fitting(option, random) : edge_text(random));
    return text;
}

void read_values(const options::Schema& schema, const options::Options& options) {
    for (const auto& option : schema.all()) {
        if (option.type == Type::flag) static_cast<void>(options.flag(option.name));
        if (!options.has(option.name)) continue;
        if (option.type == Type::integer) static_cast<void>(options.integer(option.name));
        if (option.type == Type::real) static_cast<void>(options.real(option.name));
        if (option.type == Type::bytes) static_cast<void>(options.bytes(option.name));
    }
}

}  // namespace

options::Schema schema_of(const experiments::Experiment& experiment) {
    options::Schema schema;
    experiment.describe(schema);
    app::describe_common(schema);
    app::describe_help(schema);
    return schema;
}

int settle(experiments::Experiment& experiment, const std::vector<std::string>& words, int ranks) {
    const auto schema = schema_of(experiment);
    auto options = options::Options::parse(schema, words);
    if (options.flag("help") || options.flag("version") || options.flag("list")) return 0;
    static_cast<void>(experiment.needs_mpi(options));
    if (options.has("config")) options.read_config(options.text("config"));
    options.adopt(options.serialise());
    static_cast<void>(experiment.settle(options, ranks)->facts());
    read_values(schema, options);
    static_cast<void>(options.effective());
    return 0;
}

std::string value_of(const Option& option, Random& random) {
    if (random.chance(75)) return fitting(option, random);
    if (random.chance(15)) return listed(option, random);
    if (random.chance(70)) return edge_text(random);
    return hostile_text(random, random.chance(2) ? 70000 : 40);
}

std::vector<std::string> words_of(const Option& option, Random& random) {
    std::string name = "--" + option.name;
    if (option.shorthand != 0 && random.chance(30)) name = std::string("-") + option.shorthand;
    if (random.chance(3)) name.resize(1 + random.below(name.size()));
    if (option.type == Type::flag && random.chance(90)) return {name};
    const std::string value = value_of(option, random);
    if (random.chance(30)) return {name + "=" + value};
    return random.chance(3) ? std::vector<std::string>{name} : std::vector<std::string>{name, value};
}

std::string line_of(const options::Schema& schema, Random& random) {
    if (random.chance(5)) return hostile_text(random, 60);
    if (random.chance(3)) return "[section]";
    if (random.chance(3)) return "# " + hostile_text(random, 60);
    const auto& option = random.pick(schema.all());
    const std::string key = random.chance(95) ? option.name : hostile_text(random, 20);
    const std::string value = option.type == Type::flag && random.chance(80)
                                  ? (random.chance(50) ? "true" : "false")
                                  : value_of(option, random);
    return key + (random.chance(95) ? " = " : " ") + value;
}

}  // namespace ranklab::fuzz
