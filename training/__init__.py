"""Training of the name model as code; nothing here is part of the installed package."""

import gateway  # noqa: F401 - keeps onnxruntime, which training loads too, from reporting to its maker
