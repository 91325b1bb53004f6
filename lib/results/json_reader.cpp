#include "results/json_reader.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace ranklab::results {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = std::size_t{64} << 20U;
constexpr std::size_t kMostValues = 100000;  // a run has a few hundred

// Called by the parser for each piece of the text; false ends the parsing.
class Reader final : public nlohmann::json_sax<Json> {
  public:
    Reader(JsonShape shape, const TakeJson& take)
        : list_(shape == JsonShape::list), depth_(shape == JsonShape::sections ? 2 : 1), take_(take) {}

    bool null() override { return value(nullptr); }
    bool boolean(bool flag) override { return value(flag); }
    bool number_integer(number_integer_t number) override { return value(number); }
    bool number_unsigned(number_unsigned_t number) override { return value(number); }
    bool number_float(number_float_t number, const string_t&) override { return value(number); }
    bool string(string_t& text) override { return value(text); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return !list_ && open(); }
    bool start_array(std::size_t) override { return list_ && open(); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& text) override {
        keys_.back() = text;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;
    }

  private:
    bool open() {
        if (keys_.size() == depth_ || ++values_ > kMostValues) return false;
        keys_.emplace_back();
        return true;
    }
    bool close() {
        keys_.pop_back();
        return true;
    }
    bool value(const Json& found) {
        if (keys_.size() != depth_ || ++values_ > kMostValues) return false;
        take_(keys_, found);
        return true;
    }

    bool list_;
    std::size_t depth_;
    const TakeJson& take_;
    std::vector<std::string> keys_;
    std::size_t values_ = 0;
};

}  // namespace

void read_json(const std::string& text, const char* what, JsonShape shape, const TakeJson& take) {
    Reader reader(shape, take);
    if (text.size() <= kMostBytes && Json::sax_parse(text, &reader)) return;
    throw base::DataError(fmt::format("{} is not the JSON that the schema asks for", what));
}

}  // namespace ranklab::results
