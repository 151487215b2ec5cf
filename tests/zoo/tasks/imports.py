"""Imports what transformers and diffusers import lazily, once for all programs."""

import lightning  # noqa: F401
import timm.models  # noqa: F401
import torchvision.models  # noqa: F401
from accelerate import Accelerator  # noqa: F401
from transformers import Trainer, TrainingArguments  # noqa: F401
