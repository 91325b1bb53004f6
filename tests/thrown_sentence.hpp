#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

#include "base/error.hpp"

namespace ranklab::tests {

/// The error's sentence, and the options that its settings will be told as: "... (--workers)".
inline std::string sentence_of(const std::exception& error) {
    std::string sentence = error.what();
    if (const auto* ours = dynamic_cast<const base::Error*>(&error))
        for (const auto& setting : ours->settings()) sentence += " (--" + setting + ')';
    return sentence;
}

/// The sentence of the ErrorType that `work` throws. Another outcome fails the test and gives "".
template <class ErrorType, class Work>
std::string thrown_sentence(Work&& work) {
    try {
        work();
    } catch (const ErrorType& error) {
        return sentence_of(error);
    } catch (const std::exception& error) {
        ADD_FAILURE() << "an error of another kind was thrown: " << error.what();
        return "";
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
}

}  // namespace ranklab::tests
