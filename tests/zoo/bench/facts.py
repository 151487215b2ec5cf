"""What is true of a program, from its own objects."""


def bytes_of(tensors):
    """Bytes of distinct tensors."""
    return sum({id(t): t.numel() * t.element_size() for t in tensors}.values())


def line_of(module):
    """Where the forward of a module is written."""
    code = getattr(type(module).forward, "__code__", None)
    return {"file": code.co_filename, "line": code.co_firstlineno, "name": code.co_name} if code else None


def blocks_of(model, blocks):
    """The repeated blocks, by name, with their class, line and bytes of parameters."""
    names = {id(module): name for name, module in model.named_modules()}
    return [
        {
            "name": names.get(id(block), ""),
            "class": type(block).__name__,
            "forward": line_of(block),
            "parameter_bytes": bytes_of(block.parameters()),
        }
        for block in blocks
    ]


def describe(facts, options):
    """Declared facts as plain values. `model` and `blocks` are modules; all else stays as it is."""
    facts = dict(facts)
    model, blocks = facts.pop("model", None), facts.pop("blocks", None)
    if model is not None:
        facts["parameter_bytes"] = bytes_of(model.parameters())
        facts["buffer_bytes"] = bytes_of(model.buffers())
        facts["modules"] = [[name, type(module).__name__] for name, module in model.named_modules()]
        if blocks is not None:
            facts["blocks"] = blocks_of(model, list(blocks))
    facts["all_options"] = dict(vars(options))
    return facts
