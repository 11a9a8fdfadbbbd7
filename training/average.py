"""Exports the mean of several runs' weights: ``python -m training.average OUT WEIGHTS WEIGHTS ...``.

Runs that went on from each other err in different places; their mean errs less than either (Wortsman and others, 2022).
"""

import argparse
from pathlib import Path

import torch

from training.export import export
from training.model import Tagger, load


def mean(models: list[Tagger]) -> Tagger:
    """The first model, with the mean of all models' parameters in it."""
    with torch.no_grad():
        for parameter, *others in zip(*(model.parameters() for model in models), strict=True):
            parameter.copy_(torch.stack([parameter, *others]).mean(dim=0))
    return models[0]


def main() -> None:
    """Reads the command line and exports."""
    parser = argparse.ArgumentParser(prog="python -m training.average", description=__doc__)
    parser.add_argument("out", type=Path, help="model folder")
    parser.add_argument("weights", type=Path, nargs="+")
    arguments = parser.parse_args()
    export(mean([load(path) for path in arguments.weights]), arguments.out)


if __name__ == "__main__":
    main()
