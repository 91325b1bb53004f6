"""Starts programs with a time limit and a log, and judges their end: passed, failed, or no GPU."""

import dataclasses
import json
import os
import pathlib
import shlex
import signal
import subprocess
import time

NO_GPU_CODES = (5, 77)  # exit codes: environment; all tests skipped
NO_GPU_WORDS = ("no GPU can be used", "needs a GPU", "finds no GPU", "the CUDA runtime lists no GPU")


class Failed(Exception):
    pass


class NotThere(Exception):
    """A requirement is missing on this machine; the message names it."""


@dataclasses.dataclass
class Done:
    words: list
    code: int
    out: str
    err: str
    seconds: float

    @property
    def no_gpu(self):
        """Returns the message about a missing GPU, or ""."""
        if self.code not in NO_GPU_CODES:
            return ""
        lines = (self.out + "\n" + self.err).splitlines()
        return next((line.strip() for line in lines if any(words in line for words in NO_GPU_WORDS)), "")

    def last_words(self):
        lines = [line for line in (self.err.strip() or self.out.strip()).splitlines() if line.strip()]
        return " ".join(lines[-3:])[-500:]

    def run(self):
        """Returns the run that `--json` printed."""
        try:
            return json.loads(self.out)["runs"][0]
        except (ValueError, KeyError, IndexError) as error:
            raise Failed(f"what it printed is no run ({error}): {self.last_words()}") from None


class Clock:
    """The time that all parts share."""

    def __init__(self, total):
        self.start, self.total = time.monotonic(), total

    def spent(self):
        return time.monotonic() - self.start

    def left(self):
        return self.total - self.spent()


class Runner:
    """Starts programs in one environment; each part's log has every command with its output. A program that exceeds its limit is killed with its
    children."""

    def __init__(self, environment, folder, clock):
        self.environment, self.folder, self.clock = environment, folder, clock
        self.log, self.deadline = folder / "check.log", clock.start + clock.total

    def begin(self, name, limit):
        self.log = self.folder / f"{name}.log"
        self.deadline = time.monotonic() + min(limit, max(1.0, self.clock.left()))

    def note(self, text):
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(text.rstrip("\n") + "\n")

    def __call__(self, words, limit=None):
        words = [str(word) for word in words]
        start = time.monotonic()
        limit = max(1.0, min(limit or 1e9, self.deadline - start))
        # Programs store results in this folder.
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, cwd=self.folder,
                                   start_new_session=True)
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            kill(process)
            out, err = process.communicate()
            self.note(f"$ {shlex.join(words)}\n{text_of(out)}{text_of(err)}# killed after {limit:.0f} s")
            raise Failed(f"{pathlib.Path(words[0]).name} was killed after {limit:.0f} s: {shlex.join(words[1:])}") from None
        except BaseException:  # this script is stopped: kill the program, too
            kill(process)
            raise
        done = Done(words, process.returncode, text_of(out), text_of(err), time.monotonic() - start)
        self.note(f"$ {shlex.join(words)}\n{done.out}{done.err}# exit code {done.code} after {done.seconds:.1f} s")
        return done


def text_of(output):
    return output.decode("utf-8", "replace")


def kill(process):
    """Kills the process and its children, which share its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Server:
    """Runs pytorch_side.py: one line per job in, one line per answer out."""

    def __init__(self, command, runner):
        self.runner, self.log = runner, open(runner.folder / "pytorch.log", "ab")
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=runner.environment,
                                        cwd=runner.folder, start_new_session=True)
        self.about = self.answer(60)

    def answer(self, limit):
        import select
        line, deadline = b"", time.monotonic() + limit
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            part = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not part:
                kill(self.process)
                self.process.wait()
                raise Failed(f"PyTorch's side gave no answer within {limit:.0f} s (see pytorch.log)" if not ready else "PyTorch's side ended (see pytorch.log)")
            line += part
        return json.loads(line)

    def ask(self, job, limit):
        self.process.stdin.write((json.dumps(job) + "\n").encode())
        self.process.stdin.flush()
        answer = self.answer(limit)
        self.runner.note(f"pytorch {json.dumps(job)}\n{json.dumps(answer)}")
        return answer

    def alive(self):
        return self.process.poll() is None

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            kill(self.process)
        self.log.close()
