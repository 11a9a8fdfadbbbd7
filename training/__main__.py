"""``python -m training``: prepare, train, export and measure in one go (see README.md beside this file)."""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

import torch

from training.corpora import Labelled, training_corpora
from training.encode import Example, blurred, encode
from training.export import export
from training.generate import generated, labelled
from training.model import Shape, Tagger, from_base, load
from training.sift import sifted
from training.train import Recipe, Text, train

ROOT = Path(__file__).parent.parent
GENERATED = 8000


def helpings(real: Sequence[Labelled], seed: int) -> Text:
    """Text for the workers, never the same twice: half of it generated, half labelled text.

    At first the hard examples and names in other places, which teach most; at last text as it is, so that the model
    learns how rare names are.
    """

    def helping(rank: int, number: int, model: Tagger, done: float) -> list[Example]:
        own = seed + 1000 * number + rank
        chance = random.Random(str(own))
        if done > 0.6:
            return encode(generated(GENERATED, own)) + encode(labelled(real, chance, other_names=0.5))
        new = encode(generated(GENERATED, own))
        return (sifted(model, new, chance) if number else new) + blurred(encode(labelled(real, chance)), chance)

    return helping


def main() -> None:
    """Reads the command line and runs the stages."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of labelled files")
    parser.add_argument("--work", type=Path, default=ROOT / "training" / "build", help="weights and learning curve")
    parser.add_argument("--out", type=Path, default=ROOT / "gateway" / "detection" / "ner" / "model")
    parser.add_argument("--steps", type=int, default=8000, help="steps of a worker at most")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop (with a falling rate) after so long")
    parser.add_argument("--rate", type=float, default=4e-4)
    parser.add_argument("--start", type=Path, help="weights of an earlier leg instead of the base's")
    parser.add_argument("--seed", type=int, default=20240501)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    # Workers are forked: no thread of torch's may exist before.
    torch.set_num_threads(1)
    text = helpings(training_corpora(arguments.data), arguments.seed)
    model = load(arguments.start) if arguments.start else from_base(Shape(layers=(0, 1, 2, 3), inner=768))
    recipe = Recipe(steps=arguments.steps, minutes=arguments.minutes, rate=arguments.rate, seed=arguments.seed)
    export(train(model, text, recipe, arguments.work), arguments.out)


if __name__ == "__main__":
    main()
