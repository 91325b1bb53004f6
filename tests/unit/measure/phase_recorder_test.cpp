#include "measure/samples.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>

namespace ranklab::measure {
namespace {

using base::Phase;
using namespace std::chrono_literals;

double in(const StepTimes& step, Phase phase) {
    return step.phases[static_cast<std::size_t>(phase)];
}

void spend(PhaseRecorder& recorder, Phase phase, std::chrono::milliseconds time) {
    const auto mark = recorder.phase(phase);
    std::this_thread::sleep_for(time);
}

TEST(PhaseRecorder, AddsUpAPhaseThatIsEnteredTwice) {
    PhaseRecorder recorder;
    recorder.begin_step();
    spend(recorder, Phase::sync, 20ms);
    spend(recorder, Phase::forward, 10ms);
    spend(recorder, Phase::sync, 20ms);
    recorder.end_step();
    const auto& step = recorder.last_step();
    EXPECT_GE(in(step, Phase::sync), 0.040);
    EXPECT_GE(in(step, Phase::forward), 0.010);
    EXPECT_EQ(in(step, Phase::optimizer), 0.0) << "a phase that was not marked takes no time";
}

TEST(PhaseRecorder, ThePhasesAreWithinTheStep) {
    PhaseRecorder recorder;
    for (int i = 0; i < 3; ++i) {
        recorder.begin_step();
        for (const auto phase : {Phase::data, Phase::forward, Phase::backward})
            spend(recorder, phase, 2ms);
        std::this_thread::sleep_for(5ms);  // in no phase
        recorder.end_step();
        const auto& step = recorder.last_step();
        const double sum = std::accumulate(step.phases.begin(), step.phases.end(), 0.0);
        EXPECT_GE(sum, 0.006);
        EXPECT_LE(sum + 0.005, step.step);
    }
}

TEST(PhaseRecorder, EachStepBeginsAtZero) {
    PhaseRecorder recorder;
    recorder.begin_step();
    spend(recorder, Phase::data, 10ms);
    recorder.end_step();
    const auto before = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(100ms);  // between steps: in no step
    recorder.begin_step();
    recorder.end_step();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - before;
    EXPECT_EQ(in(recorder.last_step(), Phase::data), 0.0);
    EXPECT_LE(recorder.last_step().step, passed.count() - 0.100) << "however long the machine took";
}

TEST(PhaseRecorder, WhatKnowsBetterCorrectsTheLastStep) {
    PhaseRecorder recorder;
    recorder.begin_step();
    recorder.end_step();
    recorder.correct_last(Phase::forward, 7);
    EXPECT_EQ(in(recorder.last_step(), Phase::forward), 7);
}

TEST(PhaseRecorder, AMarkEndsWhenAnExceptionPasses) {
    PhaseRecorder recorder;
    recorder.begin_step();
    try {
        const auto mark = recorder.phase(Phase::backward);
        std::this_thread::sleep_for(5ms);
        throw 1;
    } catch (int) {
    }
    recorder.end_step();
    EXPECT_GE(in(recorder.last_step(), Phase::backward), 0.005);
}

}  // namespace
}  // namespace ranklab::measure
