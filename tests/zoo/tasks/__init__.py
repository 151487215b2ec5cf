"""Models of libraries, each with the batches and the loss that train it."""

from tasks.diffusion import diffusers_task
from tasks.language import transformers_task
from tasks.vision_timm import timm_task
from tasks.vision_torchvision import torchvision_task

MAKERS = {
    "timm": timm_task,
    "hf": transformers_task,
    "torchvision": torchvision_task,
    "diffusers": diffusers_task,
}


def make(options):
    """The task of an architecture, such as `timm:resnet50`; its model lies on the host."""
    library, name = options.architecture.split(":", 1)
    return MAKERS[library](name, options)


def preload():
    """Import what libraries import only when it is asked for."""
    import tasks.imports  # noqa: F401
