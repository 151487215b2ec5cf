"""A program that is asked for a snapshot before it uses a device, which another thread does first, then and after the recording;
then once more with a handler of its own.
"""

import os
import signal
import sys
import threading

import oomscope
import torch


def ask():
    os.kill(os.getpid(), signal.SIGUSR2)


recording = oomscope.record(sys.argv[1], at_end=False, verdict=False)
ask()
first = threading.Thread(target=lambda: torch.ones(4).cuda())
first.start()
first.join()
ask()
recording.stop()
ask()

signal.signal(signal.SIGUSR2, lambda number, frame: print("own"))
with oomscope.record("own", at_end=False, verdict=False) as recording:
    ask()
    assert len(recording.files) == 1
ask()
