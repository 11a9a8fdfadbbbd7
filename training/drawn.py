"""Draws windows of numbered text on a device, changes words in them, and has the transformer label them."""

import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from gateway.detection.ner.unit_features import FEATURES, FIRST_FORM, GAPS, LENGTHS, LISTS
from gateway.detection.ner.units import UnitReader
from numpy.typing import NDArray
from onnx import numpy_helper
from tokenizers import Tokenizer
from torch import Tensor

from training.features import LABELS, case_class
from training.model import Shape, Tagger

ATOMS = 126
"""Atoms of a window at most; no more word pieces fit, either."""
UNITS = 192
EDGE = 14
"""Units next to where a window was cut out of its text, about which nothing is learned."""
SHARPNESS = 3
_CHUNK = 40_000
_CHANGED = (0.0, 0.0, 0.1, 0.25, 0.5)
"""Shares of the words of a window that are put in another's place, each as likely."""
_SMALL, _CAPITALS = 0.05, 0.015
_WHOLE = 0.3
"""Share of the texts that are drawn as texts, and not by their length."""
_MIN_GIVEN = 0.02
"""The gateway takes a word that is only ever a given name for one from this probability on (given_names.py)."""
_CAPITAL, _GIVEN = 5, 2
_PERSON = LABELS.index("B-PERSON")
# The gateway's classes of white space to the transformer's: adjacent, spaced, new line.
_GAP_OF = (0, 1, 1, 2, 2, 2)


def teacher(model: Path) -> Tagger:
    """The exported transformer, its weights as floats."""
    stored = {one.name: numpy_helper.to_array(one) for one in onnx.load(model / "model.onnx").graph.initializer}
    result = Tagger(Shape(layers=(0, 1, 2, 3), inner=768), dropout=0.0)

    def weight(name: str) -> NDArray[np.float32]:
        zero = stored[f"{name}_zero_point"].astype(np.float32)
        values: NDArray[np.float32] = (stored[f"{name}_quantized"] - zero) * stored[f"{name}_scale"]
        return values.T

    # The first normalization was called `norm` when the committed weights were exported, and is `normed` since.
    first = "norm" if "norm.w" in stored else "normed"
    state = {
        "words.weight": stored["words"].astype(np.float32) * stored["words.scale"],
        "positions.weight": stored["positions"],
        "types.weight": stored["types"],
        "norm.weight": stored[f"{first}.w"],
        "norm.bias": stored[f"{first}.b"],
        "head.weight": stored["head.w"].T,
        "head.bias": stored["head.b"],
    }
    for number in range(4):
        for part in ("qkv", "out", "up", "down"):
            state[f"layers.{number}.{part}.weight"] = weight(f"layer{number}.{part}.w")
            state[f"layers.{number}.{part}.bias"] = stored[f"layer{number}.{part}.b"]
        for part in ("norm1", "norm2"):
            state[f"layers.{number}.{part}.weight"] = stored[f"layer{number}.{part}.w"]
            state[f"layers.{number}.{part}.bias"] = stored[f"layer{number}.{part}.b"]
    result.load_state_dict({name: torch.from_numpy(np.array(values, np.float32)) for name, values in state.items()})
    return result.eval().requires_grad_(False)


@dataclass(frozen=True, slots=True)
class Atoms:
    """Word pieces and units of each atom: those of atom `i` are `starts[i]:starts[i + 1]`."""

    piece_starts: Tensor
    piece_ids: Tensor
    piece_cases: Tensor
    unit_starts: Tensor
    unit_rows: Tensor
    """Features `[units, features]`, as if nothing stood between the atom and what is before it."""
    unit_first: Tensor
    unit_last: Tensor
    """The pieces of a unit within its atom, as a range."""

    @classmethod
    def read(cls, surfaces: list[str], model: Path, device: torch.device) -> "Atoms":
        """Splits all atoms."""
        chunks = [surfaces[at : at + _CHUNK] for at in range(0, len(surfaces), _CHUNK)]
        # Forked: nothing is on the device yet.
        with multiprocessing.get_context("fork").Pool() as pool:
            parts = pool.starmap(_split, [(chunk, model) for chunk in chunks], chunksize=1)
        columns = [torch.from_numpy(np.concatenate(column)) for column in zip(*parts, strict=True)]
        pieces, ids, cases, units, rows, first, last = columns
        starts = [torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)]) for counts in (pieces, units)]
        tensors = (starts[0], ids, cases, starts[1], rows, first, last)
        return cls(*(tensor.to(device) for tensor in tensors))


def _split(surfaces: list[str], model: Path) -> tuple[NDArray[np.int64], ...]:
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    reader = UnitReader(model / "ordinary.txt", model / "given.txt")
    encodings = tokenizer.encode_batch(surfaces, add_special_tokens=False)
    pieces = np.array([len(one.ids) for one in encodings], np.int64)
    ids = np.array([id for one in encodings for id in one.ids], np.int64)
    cases = np.array(
        [
            case_class(surface[start:end])
            for surface, one in zip(surfaces, encodings, strict=True)
            for start, end in one.offsets
        ],
        np.int64,
    )
    lengths = np.array([len(one) for one in surfaces], np.int64)
    begins = np.concatenate([[0], np.cumsum(lengths + 1)])[:-1]
    of_piece = np.repeat(np.arange(len(surfaces)), pieces)
    offsets = np.array([place for one in encodings for place in one.offsets], np.int64).reshape(-1, 2)
    offsets += begins[of_piece][:, None]
    (units,) = reader.read_all(["\n".join(surfaces)])
    of_unit = np.searchsorted(begins, units.starts, "right") - 1
    rows = units.rows.astype(np.int64)
    opens = np.concatenate([[True], of_unit[1:] != of_unit[:-1]])
    rows[opens, -1] -= (rows[opens, -1] - FIRST_FORM) % GAPS
    before = np.concatenate([[0], np.cumsum(pieces)])
    first = np.searchsorted(offsets[:, 1], units.starts, "right") - before[of_unit]
    last = np.searchsorted(offsets[:, 0], units.ends, "left") - before[of_unit]
    most = pieces[of_unit]
    first, last = np.clip(first, 0, most), np.clip(last, 0, most)
    return pieces, ids, cases, np.bincount(of_unit, minlength=len(surfaces)), rows, first, np.maximum(first, last)


@dataclass(frozen=True, slots=True)
class Batch:
    """Windows for the student: rows `[windows, units, features]`, mask, targets `[..., labels]`, weights."""

    rows: Tensor
    mask: Tensor
    targets: Tensor
    weights: Tensor


class Corpus:
    """The texts of a file that `Numbering` filled, on a device."""

    def __init__(self, file: Path, model: Path, device: torch.device) -> None:
        stored = np.load(file)
        surfaces = stored["surfaces"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        self.atoms = Atoms.read(surfaces, model, device)
        self.device = device

        def held(name: str) -> Tensor:
            return torch.from_numpy(stored[name]).to(device)

        self.lower, self.upper = held("lower"), held("upper")
        self.members, self.member_starts = held("members"), held("member_starts").long()
        languages = sum(name.startswith("class_atoms_") for name in stored.files)
        self.classes = torch.zeros((languages, len(surfaces)), dtype=torch.int32, device=device)
        for number in range(languages):
            self.classes[number, held(f"class_atoms_{number}").long()] = held(f"class_{number}")
        self.streams = {
            name: _Stream(
                held(f"{name}_atoms"),
                held(f"{name}_gaps"),
                held(f"{name}_ends"),
                held(f"{name}_languages").long() - 1,
            )
            for name in ("taught", "own")
            if f"{name}_atoms" in stored.files
        }
        counts = self.atoms.unit_starts.diff()
        if "own" in self.streams:
            stream = self.streams["own"]
            self.own_labels = held("own_labels")
            self.own_starts = torch.cat(
                [torch.zeros(1, dtype=torch.int64, device=device), counts[stream.atoms.long()].cumsum(0)]
            )
            assert len(self.own_labels) == int(self.own_starts[-1]), "labels do not fit the units"
        self.piece_counts, self.unit_counts = self.atoms.piece_starts.diff(), counts
        self._gap_of = torch.tensor(_GAP_OF, device=device)

    def draw(self, name: str, count: int, *, valid: bool = False, change: bool = True) -> "Window":
        """Windows of random texts; a hundredth of all texts is drawn only if `valid` is set."""
        stream, device = self.streams[name], self.device
        texts = len(stream.ends)
        held_out = texts // 100
        first, last = (texts - held_out, texts) if valid else (0, texts - held_out)
        begin = int(stream.ends[first - 1]) if first else 0
        places = torch.randint(begin, int(stream.ends[last - 1]), (count,), device=device)
        text = torch.searchsorted(stream.ends, places, right=True)
        whole = torch.rand(count, device=device) < _WHOLE
        text = torch.where(whole, torch.randint(first, last, (count,), device=device), text)
        starts, ends = torch.where(text > 0, stream.ends[text - 1], 0), stream.ends[text]
        from_start = whole | (places - starts < ATOMS // 3) | (torch.rand(count, device=device) < 0.2)
        places = torch.where(from_start, starts, places)
        index = places[:, None] + torch.arange(ATOMS, device=device)
        inside = index < ends[:, None]
        index = index.clamp_max(len(stream.atoms) - 1)
        atoms = torch.where(inside, stream.atoms[index].long(), 0)
        if change:
            atoms = self._changed(atoms, stream.languages[text])
        pieces, units = self.piece_counts[atoms].cumsum(1), self.unit_counts[atoms].cumsum(1)
        kept = inside & (pieces <= ATOMS) & (units <= UNITS)
        cut = (inside & ~kept).any(1) | (places + ATOMS < ends)
        return Window(atoms, stream.gaps[index].long(), kept, places, places > starts, cut)

    def _changed(self, atoms: Tensor, languages: Tensor) -> Tensor:
        shares = torch.tensor(_CHANGED, device=self.device)[
            torch.randint(len(_CHANGED), (len(atoms),), device=self.device)
        ]
        kinds = self.classes[languages.clamp_min(0)[:, None], atoms].long()
        first, after = self.member_starts[kinds], self.member_starts[kinds + 1]
        drawn = first + (torch.rand(atoms.shape, device=self.device) * (after - first)).long()
        others = self.members[drawn.clamp_max(len(self.members) - 1)].long()
        changed = (torch.rand(atoms.shape, device=self.device) < shares[:, None]) & (kinds > 0)
        atoms = torch.where(changed, others, atoms)
        dice = torch.rand((len(atoms), 1), device=self.device)
        atoms = torch.where(dice < _SMALL, self.lower[atoms].long(), atoms)
        return torch.where(dice > 1 - _CAPITALS, self.upper[atoms].long(), atoms)

    def sorted(self, window: "Window", count: int) -> Iterator["Window"]:
        """The windows in `count` parts, those of like length together, since the shorter are padded."""
        lengths = torch.where(window.kept, self.unit_counts[window.atoms], 0).sum(1)
        for some in lengths.argsort().chunk(count):
            yield window.part(some)

    def labelled(self, name: str, window: "Window", tagger: Tagger) -> Batch:
        """Some windows as a batch."""
        flat, row = window.atoms[window.kept], window.kept.nonzero()[:, 0]
        gaps = window.gaps[window.kept]
        at, within, rows, mask = self._units(window, flat, row, gaps)
        if name == "own":
            place = self.own_starts[window.places][:, None] + torch.arange(rows.shape[1], device=self.device)
            labels = self.own_labels[place.clamp_max(len(self.own_labels) - 1)].long()
            targets = torch.nn.functional.one_hot(labels, len(LABELS)).float()
        else:
            targets = self._taught(window, flat, row, gaps, at, within, rows, tagger)
        length = mask.sum(1, keepdim=True)
        place = torch.arange(rows.shape[1], device=self.device)[None]
        near = (window.open_left[:, None] & (place < EDGE)) | (window.open_right[:, None] & (place >= length - EDGE))
        return Batch(rows, mask, targets, mask * ~near)

    def _units(
        self, window: "Window", flat: Tensor, row: Tensor, gaps: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        counts = torch.where(window.kept, self.unit_counts[window.atoms], 0)
        before = (counts.cumsum(1) - counts)[window.kept]
        of, within = _repeated(self.unit_counts[flat])
        source, column = self.atoms.unit_starts[flat[of]] + within, before[of] + within
        size = (len(window.atoms), max(1, int(counts.sum(1).max())))
        rows = torch.zeros((*size, FEATURES), dtype=torch.int64, device=self.device)
        values = self.atoms.unit_rows[source]
        values[:, -1] += torch.where(within == 0, gaps[of], 0)
        rows[row[of], column] = values
        mask = torch.zeros(size, device=self.device)
        mask[row[of], column] = 1
        return torch.stack([row[of], column]), torch.stack([of, source]), rows, mask

    def _taught(
        self,
        window: "Window",
        flat: Tensor,
        row: Tensor,
        gaps: Tensor,
        at: Tensor,
        within: Tensor,
        rows: Tensor,
        tagger: Tagger,
    ) -> Tensor:
        counts = torch.where(window.kept, self.piece_counts[window.atoms], 0)
        before = (counts.cumsum(1) - counts)[window.kept]
        of, inner = _repeated(self.piece_counts[flat])
        source, column = self.atoms.piece_starts[flat[of]] + inner, 1 + before[of] + inner
        lengths = counts.sum(1)
        # A multiple of eight, as fused attention wants.
        size = (len(window.atoms), -(-(2 + int(lengths.max())) // 8) * 8)
        ids = torch.zeros(size, dtype=torch.int64, device=self.device)
        types = torch.zeros_like(ids)
        ids[:, 0] = 101
        ids[torch.arange(len(ids), device=self.device), 1 + lengths] = 102
        ids[row[of], column] = self.atoms.piece_ids[source]
        types[row[of], column] = 3 * self.atoms.piece_cases[source] + torch.where(inner == 0, self._gap_of[gaps[of]], 0)
        read = (torch.arange(size[1], device=self.device) < 2 + lengths[:, None]).long()
        with torch.no_grad():
            chances = tagger(ids, read, types).float().softmax(-1)
        return self._of_units(chances, before, at, within, rows)

    def _of_units(self, chances: Tensor, before: Tensor, at: Tensor, within: Tensor, rows: Tensor) -> Tensor:
        """The transformer's answers for units: as `answers_of_units` (cascade.py), sharpened."""
        (row, column), (of, source) = at, within
        first, last = (1 + before[of] + part[source] for part in (self.atoms.unit_first, self.atoms.unit_last))
        sums = torch.nn.functional.pad(chances.cumsum(1), (0, 0, 1, 0))
        mean = (sums[row, last] - sums[row, first]) / (last - first).clamp_min(1)[:, None]
        opening = chances[row, first.clamp_max(chances.shape[1] - 1)]
        begins, inside = opening[:, 1::2], opening[:, 2::2]
        kinds = mean[:, 1::2] + mean[:, 2::2]
        share = begins / (begins + inside).clamp_min(1e-9)
        mean[:, 1::2], mean[:, 2::2] = kinds * share, kinds * (1 - share)
        person = kinds[:, 0]
        sharp = mean.clamp_min(0) ** SHARPNESS
        form = rows[row, column, -1] - FIRST_FORM
        lists, case = form // GAPS % LISTS, form // GAPS // LISTS // LENGTHS
        given = (case == _CAPITAL) & (lists == _GIVEN) & (person >= _MIN_GIVEN) & (mean.argmax(1) == 0)
        sharp[given] = 0
        sharp[given, _PERSON] = 1
        nothing = last <= first
        sharp[nothing] = 0
        sharp[nothing, 0] = 1
        targets = torch.zeros((*rows.shape[:2], len(LABELS)), device=self.device)
        targets[row, column] = sharp / sharp.sum(-1, keepdim=True).clamp_min(1e-9)
        return targets


@dataclass(frozen=True, slots=True)
class _Stream:
    atoms: Tensor
    gaps: Tensor
    ends: Tensor
    languages: Tensor


@dataclass(frozen=True, slots=True)
class Window:
    """Drawn windows `[windows, ATOMS]`: atoms, white space before each, and which are kept; where in the stream they
    begin, and whether their text continues to the left and right of them.
    """

    atoms: Tensor
    gaps: Tensor
    kept: Tensor
    places: Tensor
    open_left: Tensor
    open_right: Tensor

    def part(self, some: Tensor) -> "Window":
        """Some of the windows, without the columns that none of them has."""
        kept = self.kept[some]
        width = max(1, int(kept.sum(1).max()))
        return Window(
            self.atoms[some][:, :width],
            self.gaps[some][:, :width],
            kept[:, :width],
            self.places[some],
            self.open_left[some],
            self.open_right[some],
        )


def _repeated(counts: Tensor) -> tuple[Tensor, Tensor]:
    """For each of `counts[i]` copies of `i`: `i`, and the number of the copy."""
    of = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    return of, torch.arange(len(of), device=counts.device) - (counts.cumsum(0) - counts)[of]
