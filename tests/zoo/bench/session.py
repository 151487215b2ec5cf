"""One run of a program: its recording or its peaks, and the truth about it."""

import json

import torch

from bench.facts import describe


def of_convolution_backward(grad_output, x, weight, *arguments, out_shape=None, **_):
    """Operations of the backward of a convolution: as many as its forward has, for each gradient. PyTorch's own count knows no groups."""
    from torch.utils.flop_counter import conv_flop_count

    is_transposed, gradients = arguments[4], arguments[-1]
    return conv_flop_count(x, weight, grad_output, transposed=is_transposed) * sum(gradients[:2])


class Session:
    """Starts and ends what is recorded of a program."""

    def __init__(self):
        self.profile = None
        self.out = None
        self.facts = {}
        self.begun = self.ended = False
        self.optimizer_steps = 0
        self.work = None

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
            self.profile.dump_on_oom()

    def declare(self, facts, options):
        """Keep what a program says about itself."""
        self.facts.update(describe(facts, options))

    def count_steps(self):
        """Count how often an optimizer has stepped."""
        from torch.optim.optimizer import register_optimizer_step_post_hook

        def stepped(*_):
            self.optimizer_steps += 1

        register_optimizer_step_post_hook(stepped)

    def count_work(self):
        """Count floating-point operations of products from here on."""
        from torch.utils.flop_counter import FlopCounterMode

        backward = {torch.ops.aten.convolution_backward: of_convolution_backward}
        self.work = FlopCounterMode(display=False, custom_mapping=backward)
        self.work.__enter__()

    def died(self):
        """Write that memory ran out; what was recorded was dumped then."""
        self.facts["died"] = True
        self.end()

    def done(self):
        """Dump, and write what was declared beside it."""
        if not self.ended:
            self.end()

    def end(self):
        """Write peaks, and what was recorded."""
        self.ended = True
        self.facts["optimizer_steps"] = self.optimizer_steps
        if self.work:
            self.facts["flops"] = self.work.get_total_flops()
        stats = dict(torch.cuda.memory_stats())
        self.facts["peak"] = {
            "requested": stats["requested_bytes.all.peak"],
            "allocated": stats["allocated_bytes.all.peak"],
            "reserved": stats["reserved_bytes.all.peak"],
        }
        if self.profile:
            self.profile.extra.update(self.facts)
            if self.profile.dumped:
                self.profile.write_facts()
            else:
                self.profile.dump()
        else:
            with open(self.out + ".facts", "w") as file:
                json.dump(self.facts, file, indent=1, default=str)
