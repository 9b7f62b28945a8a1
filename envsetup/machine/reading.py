"""Run the readers side by side, each fact once, and never wait for ever."""

from __future__ import annotations

import dataclasses
import threading
import time
from concurrent.futures import Future, TimeoutError
from typing import Any, Callable, Dict, Iterable, List, Mapping, Sequence, Tuple, TypeVar, Union

from envsetup.machine.fact import Fact, Machine, unknown
from envsetup.machine.host import Host, Unreadable

LIMIT = 25.0  # seconds for everything; every program and library that is asked has its own, shorter limit

T = TypeVar("T")
Reader = Callable[["Sight"], Iterable[Fact]]


class Sight:
    """What a reader sees: the host, and the facts that other readers find.

    A reader may ask for another's fact; it then waits for it. No two readers ask for each other's.
    """

    def __init__(self, host: Host, readers: Mapping[Tuple[str, ...], Reader]) -> None:
        self.host = host
        self._jobs: Dict[str, _Job] = {}
        for names, reader in readers.items():
            job = _Job(names, reader)
            self._jobs.update(dict.fromkeys(names, job))

    def start(self, name: str) -> _Job:
        """Start the reader of a fact unless it runs already."""
        job = self._jobs[name]
        if job.claim():
            # Daemon threads: a read that hangs must not keep the program from ending.
            threading.Thread(target=job.work, args=(self,), name=f"fact {name}", daemon=True).start()
        return job

    def fact(self, name: str) -> Fact:
        """Return a fact, reading it here and now if nobody has begun to."""
        job = self._jobs[name]
        if job.claim():
            job.work(self)
        return job.done.result()[name]

    def value(self, name: str, default: Any = None) -> Any:
        """Return a fact's value, or ``default`` when it is unknown."""
        fact = self.fact(name)
        return fact.value if fact.known else default


@dataclasses.dataclass(eq=False)
class _Job:
    names: Tuple[str, ...]
    reader: Reader
    done: Future[Dict[str, Fact]] = dataclasses.field(default_factory=Future)
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def claim(self) -> bool:
        """Whether the caller is the first, who must then do the work."""
        return self.lock.acquire(blocking=False)

    def work(self, sight: Sight) -> None:
        found: Dict[str, Fact] = {}
        try:
            for fact in self.reader(sight):
                found[fact.name] = fact
            why = "not found out"
        except Unreadable as error:
            why = str(error)
        except Exception as error:  # a reader that fails on odd input is a result, not the end
            why = f"reading it failed: {type(error).__name__}: {error}"
        self.done.set_result({name: found.get(name) or unknown(name, why) for name in self.names})


def gather(
    host: Host, readers: Mapping[Tuple[str, ...], Reader], only: Sequence[str], limit: float = LIMIT
) -> Machine:
    """Return the facts named in ``only``.

    Args:
        host: whom to ask.
        readers: the facts that each reader finds, and the reader.
        only: the facts wanted; nothing else is read but what they are derived from.
        limit: seconds; what has not answered by then is unknown.
    """
    sight = Sight(host, readers)
    ends = time.monotonic() + limit
    jobs = [(name, sight.start(name)) for name in only]
    facts: List[Fact] = []
    for name, job in jobs:
        try:
            facts.append(job.done.result(max(0.0, ends - time.monotonic()))[name])
        except TimeoutError:
            facts.append(unknown(name, f"no answer within {limit:g} s"))
    return Machine.of(facts)


def side_by_side(asks: Sequence[Callable[[], T]]) -> List[Union[T, Exception]]:
    """Return what each function returns, or the exception that it raises; all run at the same time."""

    def work(ask: Callable[[], T], future: Future[Union[T, Exception]]) -> None:
        try:
            future.set_result(ask())
        except Exception as error:
            future.set_result(error)

    futures: List[Future[Union[T, Exception]]] = [Future() for _ in asks]
    for ask, future in zip(asks, futures):
        threading.Thread(target=work, args=(ask, future), daemon=True).start()
    return [future.result() for future in futures]


def agree(name: str, answers: Sequence[Tuple[str, Any]], absent: str = "") -> Fact:
    """Return a fact from several sources, the most trusted first; those that disagree are kept.

    Args:
        name: the fact's name.
        answers: ``(source, value)`` of the sources that answered; None counts as no answer.
        absent: the source of the known null that it is when everyone was asked and nobody found anything.
    """
    said = [(source, value) for source, value in answers if value is not None]
    if not said:
        return Fact(name, None, absent) if absent else unknown(name, "no source answered")
    source, value = said[0]
    return Fact(name, value, source, others=tuple(other for other in said[1:] if other[1] != value))
