"""The law of events: one stream, in one order, from any point on."""

# A suite of tests asserts, wherever it is kept.

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from karat.extensions.service.store import ServiceStore
from tests.extensions.service.store.conftest import Clock


def test_events(service: ServiceStore, clock: Clock) -> None:
    """In one order, from any point on; no number is given twice."""
    assert service.events.last() == 0
    made = []
    for number, operation in enumerate("aabab"):
        made.append(service.events.add(operation, f"s{operation}", "progress", {"n": number}))
        clock.forward(1)
    assert service.events.last() == made[-1].id
    assert service.events.after(0) == tuple(made)
    assert service.events.after(made[1].id, limit=2) == tuple(made[2:4])
    assert service.events.after(0, operation="b") == (made[2], made[4])
    assert service.events.after(made[0].id, subject="sa") == (made[1], made[3])
    assert service.events.newest() == made[4]
    assert service.events.newest(operation="a", subject="sa") == made[3]
    assert service.events.newest(operation="a", subject="sb") is None
    assert service.events.drop_older(timedelta(seconds=2)) == 3
    assert service.events.after(0) == tuple(made[3:])
    # No number is given twice, also when the newest is gone.
    clock.forward(1)
    service.events.drop_older(timedelta())
    assert service.events.add("a", "sa", "progress", {}).id > made[-1].id


def test_no_event_is_passed_by(service: ServiceStore) -> None:
    """Whoever reads on from the last one seen sees all, however many write."""
    seen: list[int] = []

    def write(number: int) -> None:
        for _ in range(10):
            service.events.add("a", "s", "progress", {"n": number})

    with ThreadPoolExecutor(4) as threads:
        writers = [threads.submit(write, number) for number in range(4)]
        while not all(writer.done() for writer in writers):
            seen += [event.id for event in service.events.after(seen[-1] if seen else 0)]
    seen += [event.id for event in service.events.after(seen[-1] if seen else 0)]
    assert seen == [event.id for event in service.events.after(0)]
    assert len(seen) == 40
