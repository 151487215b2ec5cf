"""One run of a program: its recording or its peaks, and the truth about it."""

import json

import torch

from bench.facts import describe


class Session:
    """Starts and ends what is recorded of a program."""

    def __init__(self):
        self.profile = None
        self.out = None
        self.facts = {}
        self.begun = self.ended = False

    def open(self, out, profile):
        """Set where to write; without a profile only peaks are measured."""
        self.out, self.profile = out, profile

    def begin(self):
        """Start recording, and count peaks from here."""
        if self.begun:
            return
        self.begun = True
        if torch.cuda.is_initialized():
            torch.cuda.reset_peak_memory_stats()
        if self.profile:
            self.profile.start()

    def declare(self, facts, options):
        """Keep what a program says about itself."""
        self.facts.update(describe(facts, options))

    def done(self):
        """Dump, and write what was declared beside it."""
        if self.ended:
            return
        self.ended = True
        stats = dict(torch.cuda.memory_stats())
        self.facts["peak"] = {
            "requested": stats["requested_bytes.all.peak"],
            "allocated": stats["allocated_bytes.all.peak"],
            "reserved": stats["reserved_bytes.all.peak"],
        }
        if self.profile:
            self.profile.extra.update(self.facts)
            self.profile.dump()
        else:
            with open(self.out + ".facts", "w") as file:
                json.dump(self.facts, file, indent=1, default=str)
