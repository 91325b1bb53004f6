#include "base/pack.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace ranklab::base {
namespace {

struct Point {
    double x = 0;
    std::int64_t y = 0;
    bool operator==(const Point&) const = default;
};

struct Named {
    std::string name;
    std::vector<Point> points;
    std::optional<int> number;
    std::vector<std::string> words;

    static auto fields(auto& self) {
        return std::tie(self.name, self.points, self.number, self.words);
    }
    bool operator==(const Named&) const = default;
};

TEST(Pack, ComesBackAsItWas) {
    const Named named{"n\xC3\xB6 de\n\x1f", {{0.5, -3}, {1, 2}}, 7, {"", std::string("\0a", 2)}};
    EXPECT_EQ(unpacked<Named>(packed(named)), named);
    EXPECT_EQ(unpacked<std::vector<Named>>(packed(std::vector{named, Named{}})),
              (std::vector{named, Named{}}));
    EXPECT_EQ(unpacked<std::string>(packed(std::string())), "");
}

TEST(Pack, RefusesWhatIsNotThatWhole) {
    const std::string bytes = packed(Named{"name", {{1, 2}}, std::nullopt, {"word"}});
    for (std::size_t length = 0; length < bytes.size(); ++length)
        EXPECT_FALSE(unpacked<Named>(std::string_view(bytes).substr(0, length))) << length;
    EXPECT_FALSE(unpacked<Named>(bytes + "x"));
    EXPECT_FALSE(unpacked<std::string>(std::string(8, '\x7f') + "text"))
        << "memory follows no claim";
}

}  // namespace
}  // namespace ranklab::base
