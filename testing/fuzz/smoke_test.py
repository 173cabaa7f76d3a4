"""Half a minute of fuzzing for each reader of foreign bytes: config.json, GGUF, safetensors, quantised
blocks, tokenizer.json, vocabularies in GGUF; streams, answers and words of HTTP servers.

Builds the preset `fuzz` into build/fuzz (clang with libFuzzer; about a minute the first time), makes
the seed corpus, runs the targets side by side. Without such a clang it is counted as skipped.
For longer runs: GYRE_FUZZ_SECONDS=600 python3 testing/fuzz/smoke_test.py
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
READERS = ["config", "gguf", "safetensors", "dequantize", "tokenizer", "vocabulary", "sse", "reply",
           "server_words"]
# One allocation beyond 16 MiB out of inputs of at most 64 KiB is a finding too.
LIMITS = ["-max_len=65536", "-timeout=20", "-rss_limit_mb=1024", "-malloc_limit_mb=16"]


def find_clang(folder):
    """A clang++ that links libFuzzer with the sanitizers; None when there is none."""
    probe = folder / "probe.cpp"
    probe.write_text("#include <cstddef>\n#include <cstdint>\n#include <string>\n"
                     "extern \"C\" int LLVMFuzzerTestOneInput(const uint8_t*, size_t n)"
                     " { return std::string(n, 'x').empty(); }\n")
    for name in [os.environ.get("GYRE_CLANG", "clang++-16"), "clang++"]:
        if shutil.which(name) and subprocess.run(
                [name, "-std=c++20", "-fsanitize=fuzzer,address,undefined", str(probe), "-o",
                 str(folder / "probe")], capture_output=True, check=False).returncode == 0:
            return name
    return None


def build(clang, folder):
    """Configure and compile; the output of what failed, else ''."""
    for command in [["cmake", "-S", str(ROOT), "--preset", "fuzz", "-B", str(folder),
                     f"-DCMAKE_CXX_COMPILER={clang}", "-DGYRE_FUZZ_OPTIMIZE=-O0"], ["cmake", "--build", str(folder)]]:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
        if done.returncode != 0:
            return done.stdout[-4000:]
    return ""


def fuzz(program, corpus, seconds, findings):
    """Starts one target; new inputs go to a folder that is thrown away."""
    grown = findings / f"grown_{program.name}"
    grown.mkdir()
    return subprocess.Popen(
        [str(program), f"-max_total_time={seconds}", f"-dict={corpus}.dict",
         f"-artifact_prefix={findings}/{program.name}-", *LIMITS, str(grown), str(corpus)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", cwd=findings)


def main():
    seconds = int(os.environ.get("GYRE_FUZZ_SECONDS", "30"))
    folder = ROOT / "build" / "fuzz"
    with tempfile.TemporaryDirectory(prefix="gyre-fuzz-") as holder:
        holder = pathlib.Path(holder)
        clang = find_clang(holder)
        if clang is None:
            print("skip fuzz: no clang++ with libFuzzer; install clang-16 and libclang-rt-16-dev")
            return 0
        fault = build(clang, folder)
        if fault:
            print(f"not ok fuzz: the build failed\n{fault}")
            return 1
        corpus = holder / "corpus"
        subprocess.run([sys.executable, str(ROOT / "testing/fuzz/make_corpus.py"), str(corpus)],
                       check=True)
        runs = {reader: fuzz(folder / f"fuzz_{reader}", corpus / reader, seconds, holder)
                for reader in READERS}
        failed = 0
        for reader, process in runs.items():
            output = process.communicate()[0]
            found = sorted(holder.glob(f"fuzz_{reader}-*"))
            if process.returncode == 0 and not found:
                print(f"ok fuzz {reader}, {seconds} s")
                continue
            failed = 1
            print(f"not ok fuzz {reader}: exit code {process.returncode}")
            print(output[-3000:])
            for path in found:
                kept = folder / path.name
                shutil.copyfile(path, kept)
                print(f"input kept in {kept}; mend the reader and add the input to "
                      f"testing/fuzz/regressions/{reader}/")
        return failed


if __name__ == "__main__":
    sys.exit(main())
