#include "fuzz/random.hpp"

#include <fmt/format.h>

#include <string_view>

namespace ranklab::fuzz {
namespace {

using namespace std::string_view_literals;

constexpr std::array kTexts{"0",
                            "-0",
                            "-1",
                            "1",
                            "1e300",
                            "-1e300",
                            "1e-300",
                            "1e999",
                            "nan",
                            "-nan",
                            "inf",
                            "-inf",
                            "0x10",
                            "1e10",
                            "1e18",
                            "1e19",
                            "2^31",
                            "007",
                            "1.5",
                            ".",
                            "-",
                            "+",
                            "1e",
                            "e5",
                            "1,5",
                            "1 000",
                            "1_000",
                            "٣",
                            "½",
                            "1e-5",
                            "true",
                            "false",
                            "none",
                            "5%",
                            "-5%",
                            "101%",
                            "0%",
                            "1e300%",
                            "K",
                            "1K",
                            "8E",
                            "1KiB",
                            "1 GB",
                            "99999999T",
                            "1e9TB",
                            "auto",
                            "all",
                            "all,",
                            ",",
                            ",,",
                            "a,b",
                            "*",
                            "?",
                            "=",
                            "==",
                            "#",
                            "2147483647",
                            "2147483648",
                            "4294967295",
                            "4294967296",
                            "9223372036854775807",
                            "9223372036854775808",
                            "18446744073709551615",
                            "18446744073709551616",
                            "-9223372036854775808",
                            "-9223372036854775809",
                            "0.1",
                            "0.0001",
                            "4.9e-324",
                            "1.7976931348623157e308",
                            "1000000",
                            "100000"};

constexpr std::array kPieces{"GCOL\x01\0\0\0"sv,
                             "GCOL"sv,
                             "OHDR\x02"sv,
                             "\x89HDF\r\n\x1a\n"sv,
                             "TREE"sv,
                             "FRHP"sv,
                             "\x1b[2J"sv,
                             "\x1b]0;x\a"sv,
                             "\r"sv,
                             "\n"sv,
                             "\0"sv,
                             "\xff\xfe"sv,
                             "\xc3"sv,
                             "\xe2\x80\xae"sv,
                             "\"'`$(x)"sv,
                             "</script>"sv,
                             "=1+1"sv,
                             "@SUM(A1)"sv,
                             "%s%n"sv,
                             "../"sv,
                             "\\"sv,
                             "süß"sv,
                             "{\"a\":"sv,
                             ","sv,
                             "|"sv,
                             "_"sv,
                             "<b>&amp;"sv,
                             "\t"sv,
                             "label with gap"sv,
                             "-"sv};

std::string deep(Random& random) {
    constexpr std::array<std::size_t, 6> kDepths{10, 100, 1000, 10000, 100000, 300000};
    const std::size_t depth = random.pick(kDepths);
    const std::string open = random.chance(50) ? "[" : "{\"a\":";
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += open;
    return random.chance(30) ? text : text + std::string(depth, open == "[" ? ']' : '}');
}

std::string wide(Random& random) {
    constexpr std::array<std::size_t, 4> kKeys{10, 1000, 20000, 200000};
    const std::size_t keys = random.pick(kKeys);
    const bool same = random.chance(30);
    std::string text = "{";
    for (std::size_t i = 0; i < keys; ++i)
        text += fmt::format("{}\"k{}\":\"v\"", i == 0 ? "" : ",", same ? 0 : i);
    return text + "}";
}

}  // namespace

std::uint64_t edge_number(Random& random) {
    constexpr std::array<std::uint64_t, 16> kNumbers{
        0,          1,          2,          127,         255,         256,         65535,       65536,
        0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 1ULL << 40U, 1ULL << 62U, 1ULL << 63U, ~0ULL};
    const std::uint64_t number = random.pick(kNumbers);
    return random.chance(70) ? number : number + random.below(9) - 4;
}

std::string edge_text(Random& random) {
    if (random.chance(15)) return fmt::format("{}", random.next() >> random.below(64));
    if (random.chance(5)) return std::string(1 + random.below(5000), '9');
    return random.pick(kTexts);
}

std::string hostile_text(Random& random, std::size_t most) {
    std::string text;
    const std::size_t wanted = random.mostly_small(most + 1);
    while (text.size() < wanted) {
        if (random.chance(60))
            text += random.pick(kPieces);
        else
            text += static_cast<char>(random.next());
    }
    return text;
}

std::string hostile_json(Random& random) {
    switch (random.below(6)) {
        case 0:
            return deep(random);
        case 1:
            return wide(random);
        case 2:
            return "{\"x\":" + edge_text(random) + "}";
        case 3:
            return "[\"" + hostile_text(random) + "\"]";
        case 4:
            return "{\"a\":{\"b\":" + hostile_text(random, 40) + "}}";
        default:
            return hostile_text(random);
    }
}

}  // namespace ranklab::fuzz
