"""Where each canonical column of a file comes from: by option, by format, or by a known name."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

from audit.sources.canonical import ANSWERING, COLUMNS, SCORE_PREFIX, SHARED, find_column, is_step
from audit.sources.files import escape_name, excerpt
from audit.sources.formats import (
    REASONING,
    Context,
    Field,
    Record,
    as_count,
    as_references,
    declare_column,
    find_grades,
    is_grade,
    list_suffixes,
    split_words,
)
from audit.sources.formats.flat import RUN_TABLE, Word, as_ending, as_word
from audit.sources.paths import EACH, LEAVES_SHOWN, Keys, find_keys, list_paths, split_pattern, walk
from audit.sources.scores import add_values, check_own_score, split_list, split_sum

RECORDS_SHOWN = 16
# Lists that hold a problem's attempts, by exact name: of texts or objects, or else of answers.
OF_OBJECTS = split_words("attempts trials tries")
OF_TEXTS = split_words(
    "texts response responses completion completions generation generations generated_texts "
    "output outputs model_output model_outputs model_response model_responses sample samples "
    f"rollouts {' '.join(OF_OBJECTS)}"
)
OF_ANSWERS = split_words("archive_answers extracted_answers predicted_answers predictions preds")
# Pseudo-paths of --map: values taken from the location of a record.
PLACES = ("@row", "@file", "@folder", "@path")
PLACED = ("archive", "competition", "question_id", "seed")
# Columns that are lists themselves: such a list does not hold a row's attempts.
LISTS = ("references", "steps", "checkpoints")
COST = "completion_tokens"
COSTLIKE = re.compile(r"tok|cost|usage|price|usd")
# A column of longer values, on average, holds texts and not answers.
LONGEST_ANSWER = 400
NO_ATTEMPT = "rows hold no attempt: left out"


@dataclass(frozen=True)
class Origin:
    """Where a column of this file comes from: in words, and how to get at a value."""

    where: str
    get: Callable[[Record, int], Any]
    keys: Keys | None = None
    read: Callable[[Any], Any] | None = None
    looks_into: tuple[str, ...] = ()
    # Whether the value is the number of the row.
    is_row: bool = False
    # The same reading in SQL, with the column in the place of {}.
    sql: str = "{}"

    def plain(self, read: Callable[[Any], Any]) -> "Origin":
        """Return the origin without its conversion of values, if that is `read`."""
        return make_origin(self.where, self.keys) if self.keys and self.read is read else self


def make_origin(where: str, keys: Keys, read: Callable[[Any], Any] | None = None) -> Origin:
    """Return the origin of the values at a path of keys, converted by `read` if given."""
    if read is not None:
        make = read
        return Origin(
            where, lambda record, position: make(walk(record, keys, position)), keys, read
        )
    if len(keys) == 1:
        (key,) = keys
        return Origin(where, lambda record, position: record.get(key), keys)
    return Origin(where, lambda record, position: walk(record, keys, position), keys)


def find_lists(origins: Mapping[str, Origin]) -> tuple[Keys, ...]:
    """Return the paths of the lists that hold the attempts of a row: the keys before each `*`."""
    before = (
        origin.keys[: origin.keys.index(EACH)]
        for origin in origins.values()
        if origin.keys and EACH in origin.keys
    )
    return tuple(dict.fromkeys(before))


def find_list_paths(mapping: Mapping[str, str]) -> list[str]:
    """Return the dotted paths before the `*` of each path of a mapping, each once."""
    paths = (path.partition("~")[0].split(".") for path in mapping.values())
    return list(dict.fromkeys(".".join(p[: p.index(EACH)]) for p in paths if EACH in p))


def explode_record(record: Record, lists: Sequence[str]) -> Iterator[Record]:
    """Yield one record per attempt of a row: each list is replaced by the attempt's item."""
    held = {name: record[name] for name in lists if isinstance(record.get(name), list)}
    if not held:
        yield record
        return
    for items in zip(*held.values(), strict=False):
        yield record | dict(zip(held, items, strict=True))


def find_attempts(record: Record, lists: Sequence[Keys], context: Context) -> Sequence[int]:
    """Return the positions of the attempts in the lists of a row; refuse unequal lengths."""
    if not lists:
        return (0,)
    counts: dict[str, int] = {}
    for keys in lists:
        attempts = walk(record, keys)
        if isinstance(attempts, list):
            counts[".".join(keys)] = len(attempts)
        elif attempts is not None:
            found = f"{'.'.join(keys)} must be a list, found {excerpt(attempts)}"
            raise context.file.error(f"row {context.row}: {found}")
    if len(set(counts.values())) > 1:
        sizes = ", ".join(f"{escape_name(name)} has {count:,}" for name, count in counts.items())
        needed = "one item for each attempt is needed"
        raise context.file.error(f"row {context.row}: {needed}, but {sizes}")
    count = next(iter(counts.values()), 0)
    if not count:
        context.notes[NO_ATTEMPT] += 1
    return range(count)


def find_origins(context: Context, sample: Sequence[Record]) -> dict[str, Origin]:
    """Return the origin of each canonical column that this file has."""
    return _Columns(context, sample).origins()


@dataclass
class _Columns:
    """The columns of a file: by option, or else as its format declares them.

    A flat file has them by known names, in the layout that its first records show.
    """

    _context: Context
    _sample: Sequence[Record]

    def __post_init__(self) -> None:
        self._file, self._format = self._context.file, self._context.format
        self._reading = self._context.reading
        self._fields = {field.column: field for field in self._format.fields}
        self._is_flat = self._format.name == "flat"

    def origins(self) -> dict[str, Origin]:
        """Return the origin of each column that the file has."""
        constants = {"archive": self._reading.archive, "competition": self._reading.competition}
        origins: dict[str, Origin | None] = {}
        for name in (*COLUMNS, *self._find_scores(), REASONING):
            field = self._fields.get(name, declare_column(name))
            path = self._reading.mapping.get(name)
            if (constant := constants.get(name)) is not None:
                origins[name] = _make_constant(f"--{name}", constant)
            elif path is not None and path.startswith("@"):
                origins[name] = self._find_place(field, path)
            elif path is not None:
                origins[name] = self._find_mapped(field, path)
            else:
                origins[name] = self._find_known(field)
        return {name: origin for name, origin in origins.items() if origin is not None}

    def _find_scores(self) -> list[str]:
        """Return the columns of scores: of --map, of the format, and of a flat file's header."""
        named = (*self._reading.mapping, *self._fields)
        columns = dict.fromkeys(name for name in named if name.startswith(SCORE_PREFIX))
        for name in self._names if self._is_flat else ():
            if not name.startswith(SCORE_PREFIX) or name in self._reading.mapping.values():
                continue
            check_own_score(name, self._file)
            present = self._read_present(name)
            if present and all(map(is_grade, present)):
                found = f"{excerpt(name)} holds {excerpt(present[0])}"
                self._context.notes[f"column is not loaded as a score: {found}"] = 1
            else:
                columns[name] = None
        return list(columns)

    def _find_keys(self, path: str) -> Keys | None:
        """Split a dotted path into the keys of the first record that has it; None if none has."""
        parts = path.split(".")
        # Most names are in no record, and there may be thousands of files.
        if not any(".".join(parts[:count]) in self._names for count in range(1, len(parts) + 1)):
            return None
        return next((keys for record in self._sample if (keys := find_keys(record, parts))), None)

    @cached_property
    def _names(self) -> dict[str, None]:
        """Return the top-level names of the first records, in order of appearance."""
        return dict.fromkeys(name for record in self._sample for name in record)

    def _read_values(self, keys: Keys) -> list[Any]:
        """Return the values at a path in the first records, one for each attempt."""
        return [
            walk(record, keys, position)
            for record in self._sample
            for position in (range(_count_items(record, keys)) if EACH in keys else (0,))
        ]

    # By option

    def _find_place(self, field: Field, path: str) -> Origin:
        """Return the origin of a location: the row number, or the file's name, folder or path."""
        context = self._context
        place, pattern = split_pattern(path)
        option = f"--map {field.column}={path}"
        if place not in PLACES:
            raise self._file.error(f"{option}: no such place; there are {', '.join(PLACES)}")
        if field.column not in PLACED:
            raise self._file.error(f"{option}: only {', '.join(PLACED)} may come from a place")
        if place == "@row":
            if pattern is not None:
                raise self._file.error(f"{option}: a row has a number, and no pattern splits it")
            return Origin(path, lambda record, position: context.row, is_row=True)
        full = self._file.path.resolve()
        value = {"@file": full.name, "@folder": full.parent.name, "@path": full.as_posix()}[place]
        if pattern is None:
            return _make_constant(path, remove_suffix(value) if place == "@file" else value)
        # The match nearest to the file's own name.
        matches = list(pattern.finditer(value))
        if not matches or matches[-1][1] is None:
            raise self._file.error(f"{option}: the pattern is not in {excerpt(value)}")
        return _make_constant(path, matches[-1][1])

    def _find_mapped(self, field: Field, path: str) -> Origin:
        """Return the origin of a path that the user has mapped, or of a sum of paths."""
        paths = [path] if self._find_keys(path) else split_sum(field.column, path)
        terms = [self._find_term(field, term) for term in paths]
        if len(terms) == 1:
            return terms[0]
        return Origin(
            path,
            lambda record, position: add_values(
                field.column, [term.get(record, position) for term in terms]
            ),
            looks_into=tuple(term.keys[0] for term in terms if term.keys),
        )

    def _find_term(self, field: Field, path: str) -> Origin:
        """Return the origin of one mapped path; grades such as C or PASS become labels."""
        option = f"--map {field.column}={path}"
        plain, pattern = split_pattern(path)
        plain, of_list = split_list(field.column, plain)
        if plain.split(".").count(EACH) > 1:
            raise self._file.error(f"{option}: one * is one list of attempts; two are one too many")
        keys = self._find_keys(plain)
        if keys is None:
            has = list_columns(self._sample)
            raise self._file.error(f"{option}: no column {excerpt(plain)}; {has}")
        if of_list is not None:
            return make_origin(path, keys, of_list)
        if pattern is not None:
            return make_origin(path, keys, lambda value: _match_group(pattern, value))
        if field.column == "correct" and (grades := find_grades(self._read_values(keys))):
            return make_origin(path, keys, lambda value: _convert_grade(grades, value))
        read = as_references if field.column == "references" else field.read
        return make_origin(path, keys, read if plain != field.column else None)

    # As the format declares

    def _find_known(self, field: Field) -> Origin | None:
        """Return the origin of a column by its own name, an alias, or an alias whose values fit."""
        if not self._is_flat:
            present = [path for path in field.paths if self._find_keys(path)]
            full = [path for path in present if self._read_present(path)]
            return self._make_origin(field, (full or present)[0]) if present else None
        if own := self._find_usable(field, (field.column,)):
            return self._make_origin(field, own[0])
        if paths := self._find_usable(field, field.paths[1:]):
            return self._make_origin(field, self._choose_path(field, paths))
        if self.lists and (ids := self._find_usable(field, field.if_one_row_per_problem)):
            # A row is a problem: ids that differ from row to row name the same problems.
            alike = [path for path in ids if self._is_distinct(path)]
            return self._make_origin(field, alike[0] if alike else self._choose_path(field, ids))
        loose = self._find_usable(field, field.if_values_fit)
        if fitting := [p for p in loose if _is_fitting(self._read_present(p), field.fits)]:
            if len(fitting) > 1 and not COLUMNS[field.column].is_required:
                return None  # It is not needed: the user may name it.
            return self._make_origin(field, self._choose_path(field, fitting))
        if field.column == "seed" and self.lists:
            return Origin(f"position in {self.lists[0]}", lambda record, position: position)
        return None if self.lists else self._find_run_table(field)

    def _find_run_table(self, field: Field) -> Origin | None:
        """Return the origin of a column in a run table: a known word whose values fit."""
        found: dict[str, Word] = {}
        for word in RUN_TABLE.get(field.column, ()):
            known = {as_word(name) for name in word.names.split()}
            for name in (n for n in self._names if as_word(n) in known and n not in COLUMNS):
                values = self._read_present(name)
                # No error at all is an ending, too.
                if _is_fitting(values, word.fits) or (not values and word.read is as_ending):
                    found[name] = word
        if not found:
            return None
        name = self._choose_path(field, list(found))
        return replace(make_origin(name, (name,), found[name].read), sql=found[name].sql)

    @cached_property
    def _has_problem_names(self) -> bool:
        """Tell whether a column names the problem: then a column `task` is the competition."""
        field = self._fields["question_id"]
        names = (field.column, *field.paths, *field.if_values_fit)
        return "question_id" in self._reading.mapping or any(map(self._find_keys, names))

    def _find_usable(self, field: Field, names: Sequence[str]) -> list[str]:
        """Return the usable paths of these names: in the lists of attempts, or else beside them."""
        if field.column == "competition":
            # A column mapped to the problem is not the competition, too.
            problem = self._reading.mapping.get("question_id")
            is_free = self._has_problem_names
            names = [n for n in names if n != problem and (is_free or not n.startswith("task"))]
        paths = [name for name in names if self._find_keys(name) is not None]
        if self.lists:
            in_lists = [path for name in names for path in self._list_item_paths(name)]
            in_lists = [path for path in in_lists if self._find_keys(path) is not None]
            if field.column == "references":
                # A list of accepted forms may be as long as the attempts by chance.
                in_lists = [path for path in in_lists if not path.endswith(EACH)]
            # What a row says once holds for each of its attempts if it is about the problem. So
            # does a finish reason; a cost may be a sum, and a label the vote's.
            is_for_all = field.column == "finish_reason" or not is_of_attempt(field.column)
            paths = in_lists or (paths if is_for_all else [])
        return [path for path in paths if self._is_usable(field, path)]

    def _is_usable(self, field: Field, path: str) -> bool:
        """Tell whether the values at a path fit its name; note why they do not."""
        values = self._read_present(path)
        canonical = COLUMNS.get(field.column)
        if canonical and canonical.is_required and not values and EACH not in path:
            self._context.notes[f"column {path} is null throughout: it counts as absent"] = 1
            return False
        if field.column == "steps":
            lists = [value for value in values if isinstance(value, list)]
            if any(isinstance(value, int | float) for value in values):
                self._context.notes["column steps holds numbers: it counts as absent"] = 1
                return False
            return not any(lists) or any(map(is_step, chain.from_iterable(lists)))
        # Beside costs of the canonical name a list is a mistake, and is refused as one.
        if (
            field.read in (as_references, as_count)
            or field.column in LISTS
            or self._find_keys(COST)
        ):
            return True
        texts = [len(value) for value in values if isinstance(value, str)]
        if field.column == "archive_answer" and path != field.column and texts:
            return sum(texts) <= LONGEST_ANSWER * len(texts)
        if not values or not all(isinstance(value, dict | list) for value in values):
            return True
        kind = "lists" if isinstance(values[0], list) else "objects"
        self._context.absent.setdefault(field.column, f"{path} holds {kind}")
        return False

    def _list_item_paths(self, name: str) -> Iterator[str]:
        for path in self.lists:
            last = path.rsplit(".", 1)[-1]
            if name in (last, *(last.removesuffix(end) for end in ("s", "es", "_list"))):
                yield f"{path}.{EACH}"
            yield f"{path}.{EACH}.{name}"

    def _make_origin(self, field: Field, path: str) -> Origin:
        return make_origin(
            path, self._find_keys(path) or (), field.read if path != field.column else None
        )

    def _read_path(self, path: str) -> list[Any]:
        """Return the values at a dotted path in the first records."""
        return self._read_values(self._find_keys(path) or ())

    def _read_present(self, path: str) -> list[Any]:
        return [value for value in self._read_path(path) if value is not None]

    def _is_distinct(self, path: str) -> bool:
        values = self._read_path(path)
        return None not in values and len(set(map(str, values))) == len(values)

    def _choose_path(self, field: Field, paths: list[str]) -> str:
        """Return the only candidate path; refuse several with different values."""
        if field.column == "seed" and "sample_id" in paths[:-1] + paths[1:]:
            # Beside another number of the attempt a sample is the problem.
            paths = [path for path in paths if path != "sample_id"]
        # Paths that lead to no value, where others do, are no candidates.
        paths = [path for path in paths if self._read_present(path)] or paths[:1]
        if any(self._read_path(path) != self._read_path(paths[0]) for path in paths):
            options = " or ".join(f"--map {field.column}={path}" for path in paths)
            raise self._file.error(f"{field.column} may be {' or '.join(paths)}; pass {options}")
        return paths[0]

    @cached_property
    def lists(self) -> tuple[str, ...]:
        """Return the list that holds a row's attempts, and other lists that are always as long.

        --explode, a `*` in a mapped path or a known name tells it; else a row is one attempt.
        """
        name = self._reading.explode
        mapped = (path for path in self._reading.mapping.values() if EACH in path.split("."))
        if name is None and (starred := next(mapped, None)):
            name = starred.split(f".{EACH}")[0]
        elif name is not None and not self._is_list(name):
            has = list_columns(self._sample)
            raise self._file.error(f"--explode {name}: no list of that name; {has}")
        elif name is None:
            name = self._find_named_list()
        if name is None:
            return ()
        keys = (self._find_keys(name) or tuple(name.split("."))) + (EACH,)
        counts = [_count_items(record, keys) for record in self._sample]
        others = dict.fromkeys(key for record in self._sample for key in record)
        return name, *(
            other
            for other in others
            if other not in (name, *LISTS)
            and self._is_list(other)
            and all(
                len(record.get(other) or ()) == count or record.get(other) is None
                for record, count in zip(self._sample, counts, strict=True)
            )
        )

    def _find_named_list(self) -> str | None:
        """Return the list that holds attempts by its name, in rows without a text of their own."""
        if not any(isinstance(value, list) for r in self._sample for value in r.values()):
            return None  # Most files are not looked into.
        if self._reading.mapping.keys() & {*ANSWERING} or any(
            map(_is_scalar, self._read_path(COST))
        ):
            return None
        for answer, names in (("text", OF_TEXTS), ("archive_answer", OF_ANSWERS)):
            known = (answer, *self._fields[answer].paths)
            own = next(
                (path for path in known if any(map(_is_scalar, self._read_path(path)))), None
            )
            lists = [name for name in names if self._has_attempts(name)]
            if own and lists and isinstance(self._read_present(lists[0])[0][0], str):
                raise self._file.error(
                    f"{answer} may be {own} or the items of {lists[0]}; "
                    f"pass --map {answer}={own} or --explode {lists[0]}"
                )
            if len(lists) > 1 and not own:
                options = " or ".join(f"--explode {path}" for path in lists)
                found = " or ".join(lists)
                raise self._file.error(f"the attempts of a row may be in {found}; pass {options}")
            if own or lists:
                return None if own else lists[0]
        return None

    def _has_attempts(self, path: str) -> bool:
        """Tell whether a list holds texts or objects with a text, not turns of a conversation."""
        if not self._is_list(path):
            return False
        items = [item for value in self._read_present(path) for item in value]
        fields = (self._fields[name] for name in ("text", "archive_answer"))
        names = {name for f in fields for name in (f.column, *f.paths, *f.if_values_fit)}
        if any(isinstance(item, dict) for item in items):
            return all(isinstance(i, dict) and not names.isdisjoint(i) for i in items)
        return path not in OF_OBJECTS and any(item is not None for item in items)

    def _is_list(self, path: str) -> bool:
        """Tell whether all values at a path are flat lists, at least one of them not empty."""
        values = self._read_present(path)
        if not any(values) or not all(isinstance(value, list) for value in values):
            return False
        return not any(isinstance(item, list) for value in values for item in value)


def _make_constant(where: str, value: Any) -> Origin:
    return Origin(where, lambda record, position: value)


def remove_suffix(name: str) -> str:
    """Return the name of a file without its suffix, such as `.jsonl.gz`."""
    name = name[:-4] if name.lower().endswith(".zip") else name
    for suffix in sorted(list_suffixes(), key=len, reverse=True):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def _convert_grade(grades: Mapping[str, bool | None], value: Any) -> Any:
    return grades.get(value.strip().upper(), value) if isinstance(value, str) else value


def _match_group(pattern: re.Pattern[str], value: Any) -> Any:
    match = pattern.fullmatch(value) if isinstance(value, str) else None
    return match[1] if match else None


def _is_fitting(values: Sequence[Any], fits: Callable[[Any], bool]) -> bool:
    return bool(values) and all(map(fits, values))


def is_of_attempt(column: str) -> bool:
    """Tell whether a column belongs to one attempt, not to all attempts of a row."""
    return column == REASONING or (find_column(column) is not None and column not in SHARED)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _count_items(record: Record, keys: Keys) -> int:
    attempts = walk(record, keys[: keys.index(EACH)])
    return len(attempts) if isinstance(attempts, list) else 0


def list_columns(sample: Sequence[Record]) -> str:
    """List the columns of the first records for a message: "it has …"."""
    paths = dict.fromkeys(path for record in sample[:RECORDS_SHOWN] for path in list_paths(record))
    return "it has " + ", ".join(escape_name(name) for name in list(paths)[:LEAVES_SHOWN])
