"""A program is run without a device, and what it would have asked a device for is written down.

Tensors of a pretended device are torch's own meta tensors: they have sizes, types and strides, take part in autograd, and die when the
program drops them, but have no memory and no values. `storages` follows their lives, `dispatch` every operator, `functions` what
Python asks a tensor for, and `device` is what `torch.cuda` answers meanwhile.
"""
