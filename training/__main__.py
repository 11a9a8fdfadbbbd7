"""``python -m training``: prepare, train, export and measure in one go (see README.md beside this file)."""

import argparse
import json
from pathlib import Path

import torch

from training.corpora import training_documents
from training.encode import encode
from training.export import export
from training.generate import corpus
from training.model import Shape, from_base, load
from training.train import Recipe, train

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Reads the command line and runs the stages."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of labelled files")
    parser.add_argument("--work", type=Path, default=ROOT / "training" / "build", help="weights and learning curve")
    parser.add_argument("--out", type=Path, default=ROOT / "gateway" / "detection" / "names" / "model")
    parser.add_argument("--documents", type=int, default=110_000, help="generated documents")
    parser.add_argument("--repeats", type=int, default=5, help="how often labelled text returns, with other names")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop (with a falling rate) after so long")
    parser.add_argument("--rate", type=float, default=4e-4)
    parser.add_argument("--start", type=Path, help="weights of an earlier leg instead of the base's")
    parser.add_argument("--hold", action="store_true", help="keep the rate up: another leg follows")
    parser.add_argument("--seed", type=int, default=20240501)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    # Workers are forked: no thread of torch's may exist before.
    torch.set_num_threads(1)
    documents = corpus(training_documents(arguments.data), arguments.documents, arguments.seed, arguments.repeats)
    examples = encode(documents)
    tokens = sum(len(example.ids) for example in examples)
    print(json.dumps({"documents": len(documents), "windows": len(examples), "tokens": tokens}), flush=True)
    model = load(arguments.start) if arguments.start else from_base(Shape(layers=(0, 1, 2, 3), inner=768))
    recipe = Recipe(
        epochs=arguments.epochs,
        rate=arguments.rate,
        seed=arguments.seed,
        max_minutes=arguments.minutes,
        hold=arguments.hold,
    )
    export(train(model, examples, recipe, arguments.work), arguments.out)


if __name__ == "__main__":
    main()
