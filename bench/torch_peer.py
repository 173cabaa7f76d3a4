"""What the PyTorch peers share: peak memory, one JSON line per case, and the --serve protocol.

--serve lets `gyre bench` interleave its own steps with those of the peer, so that load, clock and
heat hit both alike. One line in, one line out, on stdin and stdout:

  peer:  ready {"peer": "torch 2.13.0", "threads": 2, "start_mib": 310.5}
  gyre:  step bf16 learned      -> ms 123.456     one timed step of that case; the first call of
                                                  a case builds it and warms up, untimed
  gyre:  peak                   -> mib 1234.5     largest resident size of this process so far
  gyre:  quit, or end of input  -> the peer ends
A fault is answered by `error TEXT`. Anything that libraries print goes to stderr.
"""
import json
import os
import resource
import sys


def peak_rss_mib():
    """VmHWM, not ru_maxrss: the latter starts at the size of the process that started this one."""
    try:
        with open("/proc/self/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def set_threads(torch, threads):
    """0 = all cores, as in gyre."""
    torch.set_num_threads(threads if threads > 0 else len(os.sched_getaffinity(0)))


def serve(torch, step):
    """step(case words) -> milliseconds; runs until the input ends."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    about = {"peer": "torch " + torch.__version__, "threads": torch.get_num_threads(),
             "start_mib": peak_rss_mib()}
    replies.write("ready " + json.dumps(about) + "\n")
    while line := sys.stdin.readline():
        words = line.split()
        try:
            if words[:1] == ["step"]:
                replies.write(f"ms {step(words[1:]):.6f}\n")
            elif words == ["peak"]:
                replies.write(f"mib {peak_rss_mib():.3f}\n")
            elif words == ["quit"]:
                return
            else:
                replies.write(f"error no command '{line.strip()}'\n")
        except Exception as fault:  # the reader needs one line whatever happens
            text = " ".join(str(fault).split()) or type(fault).__name__
            replies.write("error " + text[:500] + "\n")


def print_case(torch, **fields):
    print(json.dumps({"peer": "torch " + torch.__version__, **fields}), flush=True)
