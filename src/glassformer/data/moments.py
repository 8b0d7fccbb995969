"""Dates of a series: read in the usual formats, checked for order, and continued into the future."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import FileError, Phrase

Moments = NDArray[np.datetime64]  # seconds

YEAR_FIRST = re.compile(r"(\d{4})[-/.] ?(\d{1,2})[-/.] ?(\d{1,2})\.?(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?)?")
YEAR_LAST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?)?")
DAY = 86_400
LONGEST_HOLIDAY = 7 * DAY  # New York, September 2001: from Monday to Monday
A_DAY, A_MONTH = np.timedelta64(DAY, "s"), np.timedelta64(1, "M")
UNITS = {"weeks": 7 * DAY, "days": DAY, "hours": 3600, "minutes": 60, "seconds": 1}


def read_moments(cells: Sequence[str], lines: Sequence[int], path: str | Path) -> Moments:
    """2024-01-31, with a time or without, 20240131, 2024/1/31; 31.01.2024 if some row distinguishes day and month.

    A time zone is ignored: the local time is read.
    """
    day_first = _day_first(cells, lines, path)
    found = [_moment(cell, line, path, day_first) for cell, line in zip(cells, lines, strict=True)]
    return np.array(found, dtype="datetime64[s]")


def _moment(cell: str, line: int, path: str | Path, day_first: bool) -> datetime:
    text = cell.strip()
    try:
        try:
            return datetime.fromisoformat(text).replace(tzinfo=None)
        except ValueError:
            if match := YEAR_FIRST.fullmatch(text):
                year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
            elif match := YEAR_LAST.fullmatch(text):
                one, other, year, hour, minute, second = (int(part or 0) for part in match.groups())
                day, month = (one, other) if day_first else (other, one)
            else:
                raise
            return datetime(year, month, day, hour, minute, second)
    except ValueError as error:
        raise FileError("date_unreadable", path=path, line=line, value=cell) from error


def is_moment(cell: str) -> bool:
    """Whether a cell is a date; a plain number is not, although 20240131 may be one."""
    try:
        _moment(cell, 1, "", True)
    except FileError:
        try:
            _moment(cell, 1, "", False)
        except FileError:
            return False
    return not cell.strip().isdigit() or len(cell.strip()) == 8


def _day_first(cells: Sequence[str], lines: Sequence[int], path: str | Path) -> bool:
    """Whether the day comes before the month in dates that end with the year: only a number above 12 can tell."""
    matches = [YEAR_LAST.fullmatch(cell.strip()) for cell in cells[:1]]
    if not any(matches):
        return True
    matches = [YEAR_LAST.fullmatch(cell.strip()) for cell in cells]
    if any(match and int(match[1]) > 12 for match in matches):
        return True
    if any(match and int(match[2]) > 12 for match in matches):
        return False
    raise FileError("date_ambiguous", path=path, line=lines[0], value=cells[0])


def check_order(moments: Moments, lines: Sequence[int], path: str | Path) -> None:
    """Raises unless moments go from old to new, each once."""
    steps = np.diff(moments).astype(np.int64)
    for i in np.flatnonzero(steps <= 0)[:1].tolist():
        line, value = lines[i + 1], written_moment(moments[i + 1])
        if steps[i] == 0:
            raise FileError("date_twice", path=path, line=line, value=value)
        raise FileError("date_unsorted", path=path, line=line, value=value)


@dataclass(frozen=True)
class TimeStep:
    """From one row to the next: a number of seconds or months; or the next weekday, as at a stock exchange."""

    seconds: int = 0
    months: int = 0
    weekdays: bool = False

    @property
    def phrase(self) -> Phrase:
        """ "3 hours", in the language of the sentence around it."""
        if self.weekdays:
            return Phrase("steps.weekdays")
        if self.months:
            unit, count = "months", self.months
        else:
            unit = next(name for name, size in UNITS.items() if self.seconds % size == 0)
            count = self.seconds // UNITS[unit]
        return Phrase(f"steps.{unit}", (("count", count),)) if count > 1 else Phrase(f"steps.one_{unit}")

    def after(self, last: np.datetime64, count: int) -> Moments:
        """The next `count` moments. Holidays are not known: every weekday counts as a trading day."""
        ahead = np.arange(1, count + 1)
        if self.months:
            month = last.astype("datetime64[M]")
            inside = last - month.astype("datetime64[s]")
            months = month + self.months * ahead * A_MONTH
            ends = (months + A_MONTH).astype("datetime64[s]") - A_DAY
            at_end = last + A_DAY == (month + A_MONTH).astype("datetime64[s]")
            return ends if at_end else np.minimum(months.astype("datetime64[s]") + inside, ends + inside % A_DAY)
        if self.weekdays:
            day = last.astype("datetime64[D]")
            days: Moments = np.busday_offset(day, ahead, roll="backward").astype("datetime64[s]")
            return days + (last - day.astype("datetime64[s]"))
        return last + ahead * np.timedelta64(self.seconds, "s")


def step_of(moments: Moments) -> TimeStep:
    """The most frequent step; days without a Saturday or Sunday are weekdays."""
    seconds = np.diff(moments).astype(np.int64)
    common = Counter(seconds.tolist()).most_common(1)[0][0]
    if common == DAY and seconds.max() > DAY and np.is_busday(moments.astype("datetime64[D]")).all():
        return TimeStep(weekdays=True)
    if seconds.min() >= 28 * DAY and _same_day(moments):
        months = Counter(np.diff(moments.astype("datetime64[M]")).astype(np.int64).tolist())
        return TimeStep(months=months.most_common(1)[0][0])
    return TimeStep(seconds=common)


def _same_day(moments: Moments) -> bool:
    """Whether all rows have the same day of the month, or all the last one."""
    month = moments.astype("datetime64[M]")
    inside = (moments - month.astype("datetime64[s]")).astype(np.int64)
    behind = ((month + A_MONTH).astype("datetime64[s]") - moments).astype(np.int64)
    return bool((inside == inside[0]).all() or (behind == behind[0]).all())


def gap(moments: Moments, step: TimeStep) -> int | None:
    """The first row that is not one step after the row before it."""
    if step.weekdays:
        wrong = np.diff(moments).astype(np.int64) > LONGEST_HOLIDAY
    elif step.months:
        wrong = np.diff(moments.astype("datetime64[M]")).astype(np.int64) != step.months
    else:
        wrong = np.diff(moments).astype(np.int64) != step.seconds
    return int(np.argmax(wrong)) + 1 if wrong.any() else None


def refuse_gaps(moments: Moments, lines: Sequence[int], path: str | Path) -> TimeStep:
    """The step of a series; raises if it has gaps. In a series of weekdays, weekends and holidays are not gaps."""
    if len(moments) < 2:
        raise FileError("series_rows", path=path, rows=len(moments))
    step = step_of(moments)
    place = gap(moments, step)
    if place is not None:
        before, value = written_moment(moments[place - 1]), written_moment(moments[place])
        raise FileError("date_gap", path=path, line=lines[place], before=before, value=value, step=step.phrase)
    return step


def written_moment(moment: np.datetime64) -> str:
    """2024-01-31, with the time unless it is midnight."""
    text = str(moment.astype("datetime64[s]")).replace("T", " ")
    return text.removesuffix(" 00:00:00").removesuffix(":00") if text.endswith(":00") else text
