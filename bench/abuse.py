#!/usr/bin/env python3
"""What the worst packets of a hostile caller cost, in instructions (callgrind): bench/abuse.py [WORD...]: only kinds whose name holds one."""
import os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = f"{ROOT}/build/bench/abuse"
PACKETS = 20


def instructions(kind):
    """Of one packet; what is counted begins and ends with measured()."""
    with tempfile.TemporaryDirectory() as directory:
        result = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=measured*", f"--callgrind-out-file={directory}/out",
                                 PROGRAM, kind, str(PACKETS)], capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", result.stderr)[1]) / PACKETS


def main():
    kinds = subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout
    for line in kinds.splitlines():
        name, what = line.split("\t")
        if len(sys.argv) < 2 or any(word in name for word in sys.argv[1:]):
            print(f"| {name} | {what} | {instructions(name):,.0f} |", flush=True)


main()
