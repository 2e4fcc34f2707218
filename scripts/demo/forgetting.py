"""A forgetting: first what would go, then the deed, and then a look into every file."""

import time

from rich.console import Console

from scripts.demo.asking import asked
from scripts.demo.files import Looked, look
from scripts.demo.log import tell
from scripts.demo.shown import head, say, show_hit, verdicts
from scripts.demo.story import OWNER, Part, scene
from socket_gateway.cli.forget import ended
from socket_gateway.cli.shown import one_line, size
from socket_gateway.client import MemoryClient
from socket_gateway.protocol import ForgetParams, ForgetPreview, ForgetResult, ForgetSelect
from storage.errors import UnavailableError


def play(client: MemoryClient, console: Console) -> bool:
    """Have something private told, then forgotten; whether nothing of it is left anywhere."""
    part = scene("forgetting")
    head(console, "遗忘：先预览，再删除，最后到每个文件里去找")
    tell(client, part["events"])
    before = _answer(client, part, console)
    there = _look(client, part, console)
    previewed = _preview(client, part, console)
    state = _forget(client, part, console)
    after = _answer(client, part, console)
    fates = _fates(client, part, console)
    left = _look(client, part, console)
    held = {
        "预览如数，什么也没删；随后删除，直到 done": previewed and state == "done",
        "同一个问题，先有答案，后来没有": (before, after) == ("complete", "not_found"),
        "原来的事件只剩编号": fates == {"forgotten"},
        "这些字先前在文件里，现在哪个文件里都没有": bool(there.holding) and not left.holding,
    }
    return verdicts(console, held)


def _answer(client: MemoryClient, part: Part, console: Console) -> str:
    """Ask, show the answer, and tell how the search ended."""
    found, words = asked(client, part, console)
    for hit in found.hits:
        show_hit("•", hit, words, console)
    return found.state


def _params(part: Part, *, dry_run: bool) -> ForgetParams:
    return ForgetParams(owner=OWNER, select=ForgetSelect(object=part["object"]), dry_run=dry_run)


def _preview(client: MemoryClient, part: Part, console: Console) -> bool:
    """Show what would go; whether it is what was told, all of it still there."""
    found = client.forget(_params(part, dry_run=True))
    _show_counts(found, console)
    if found.preview is not None:
        _show(found.preview, console)
    told = {event["id"] for event in part["events"]}
    shown = {event.id for event in found.preview.events} if found.preview else set()
    there = {client.fate(event_id, OWNER).fate for event_id in told}
    return shown == told and found.counts.events == len(told) and "forgotten" not in there


def _show_counts(found: ForgetResult, console: Console) -> None:
    counts = found.counts
    say(
        console,
        "预览 dry_run",
        f"将删除 {counts.events} 个事件、{counts.records} 条记忆、{counts.proposals} 个提案、"
        f"{counts.recalls} 次存下的问答、{counts.objects} 个对象；"
        f"{counts.changed} 条记忆改为只依据别的来源",
    )


def _show(preview: ForgetPreview, console: Console) -> None:
    for event in preview.events:
        say(console, f"   − 事件 {event.id}", f"“{one_line(event.text)}”")
    for record in preview.records:
        say(console, f"   − 记忆 {record.id}", f"“{one_line(record.content)}”")


def _forget(client: MemoryClient, part: Part, console: Console) -> str:
    """Forget, and wait for the end of erasing; the state that it ended in."""
    began = time.monotonic()
    begun = client.forget(_params(part, dry_run=False))
    if begun.forget_id is None:
        raise UnavailableError("The service forgot nothing.")
    found = client.forget_status(begun.forget_id, OWNER)
    found = ended(client, found, OWNER, time.sleep)
    spent = time.monotonic() - began
    say(console, "遗忘 forget", f"{found.forget_id}：{found.state}，{spent:.1f} s")
    return found.state


def _fates(client: MemoryClient, part: Part, console: Console) -> set[str]:
    """Show what has become of the events."""
    fates = {event["id"]: client.fate(event["id"], OWNER).fate for event in part["events"]}
    say(console, "去向 fate", "，".join(f"{event_id} {fate}" for event_id, fate in fates.items()))
    return set(fates.values())


def _look(client: MemoryClient, part: Part, console: Console) -> Looked:
    """Look for the words in all files of the state folder, where the socket lies, too."""
    found = look(client.path.parent, part["words"])
    words = "、".join(f"“{word}”" for word in part["words"])
    where = "、".join(map(str, found.holding)) or "一个也没有"
    say(
        console,
        "文件 files",
        f"在 {found.files} 个文件（{size(found.size)}）里找 {words}：{where}",
    )
    return found
