"""Runs one command and says what it spent; started by path, so that it is as small as a Python process can be.

    python -S -E launcher.py RESULT.json COMMAND ARGUMENT…

A child's peak memory counts from the size of the process that forked it, so the benchmark itself, which is large, must
not be that process.
"""

import os
import sys
import time


def main() -> None:
    result, command = sys.argv[1], sys.argv[2:]
    began = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.execv(command[0], command)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - began
    with open(result, "w", encoding="ascii") as file:
        figures = f'"wall": {wall}, "user": {used.ru_utime}, "system": {used.ru_stime}, "peak_kb": {used.ru_maxrss}'
        file.write(f'{{{figures}, "code": {os.waitstatus_to_exitcode(status)}}}')


main()
