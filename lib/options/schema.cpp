#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "options/boost_names.hpp"
#include "options/options.hpp"

namespace ranklab::options {

Schema& Schema::add(Option option) {
    option.section = section_;
    options_.push_back(std::move(option));
    return *this;
}

Schema& Schema::section(std::string title) {
    section_ = std::move(title);
    return *this;
}

Schema& Schema::text(std::string name, std::string placeholder, std::optional<std::string> fallback,
                     std::string help) {
    return add({.name = std::move(name),
                .placeholder = std::move(placeholder),
                .help = std::move(help),
                .type = Type::text,
                .fallback = std::move(fallback),
                .choices = {},
                .section = {}});
}

Schema& Schema::texts(std::string name, std::string placeholder, std::string help) {
    return add({.name = std::move(name),
                .placeholder = std::move(placeholder),
                .help = std::move(help),
                .type = Type::texts,
                .fallback = {},
                .choices = {},
                .section = {}});
}

Schema& Schema::choice(std::string name, std::vector<std::string> choices,
                       std::optional<std::string> fallback, std::string help) {
    std::string placeholder = base::join(choices, "|");
    return add({.name = std::move(name),
                .placeholder = std::move(placeholder),
                .help = std::move(help),
                .type = Type::choice,
                .fallback = std::move(fallback),
                .choices = std::move(choices),
                .section = {}});
}

Schema& Schema::integer(std::string name, WholeRange range, std::optional<std::string> fallback,
                        std::string help) {
    return add({.name = std::move(name),
                .placeholder = "N",
                .help = std::move(help),
                .type = Type::integer,
                .fallback = std::move(fallback),
                .choices = {},
                .minimum = static_cast<double>(range.least),
                .maximum = static_cast<double>(range.most),
                .section = {}});
}

Schema& Schema::real(std::string name, RealRange range, std::optional<std::string> fallback,
                     std::string help) {
    return add({.name = std::move(name),
                .placeholder = "X",
                .help = std::move(help),
                .type = Type::real,
                .fallback = std::move(fallback),
                .choices = {},
                .minimum = range.least,
                .maximum = range.most,
                .section = {}});
}

Schema& Schema::bytes(std::string name, std::uint64_t minimum, std::optional<std::string> fallback,
                      std::string help) {
    return add({.name = std::move(name),
                .placeholder = "SIZE",
                .help = std::move(help),
                .type = Type::bytes,
                .fallback = std::move(fallback),
                .choices = {},
                .minimum = static_cast<double>(minimum),
                .section = {}});
}

Schema& Schema::flag(std::string name, std::string help) {
    return add({.name = std::move(name),
                .placeholder = {},
                .help = std::move(help),
                .type = Type::flag,
                .fallback = "false",
                .choices = {},
                .section = {}});
}

Schema& Schema::shorthand(char letter) {
    if (options_.empty()) throw base::Error("internal: a short name without an option");
    for (const auto& option : options_) {
        if (option.shorthand == letter)
            throw base::Error(fmt::format("internal: -{} is --{} already", letter, option.name));
    }
    options_.back().shorthand = letter;
    return *this;
}

Schema& Schema::positional(std::size_t most) {
    most_positional_ = most;
    return *this;
}

const Option* Schema::find(const std::string& name) const {
    const auto found =
        std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.name == name; });
    return found == options_.end() ? nullptr : &*found;
}

std::string Schema::help() const {
    namespace po = boost::program_options;
    std::ostringstream out;
    for (std::size_t begin = 0; begin < options_.size();) {
        po::options_description list(options_[begin].section, 100, 50);
        std::size_t i = begin;
        for (; i < options_.size() && options_[i].section == options_[begin].section; ++i) {
            const Option& option = options_[i];
            const std::string names = boost_names(option);
            std::string help = option.help;
            if (option.type != Type::flag && option.fallback)
                help += fmt::format(" (default: {})", *option.fallback);
            if (option.type == Type::flag) {
                list.add_options()(names.c_str(), help.c_str());
            } else {
                auto* value = po::value<std::string>()->value_name(option.placeholder);
                list.add_options()(names.c_str(), value, help.c_str());
            }
        }
        out << list << '\n';
        begin = i;
    }
    return out.str();
}

}  // namespace ranklab::options
