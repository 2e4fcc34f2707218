"""Memory at a million texts: `python -m scripts.bench.scale`.

Texts come in through the socket and are filtered and indexed as events; *observe* is paused, since
the figure is about what a long life leaves in the index (spec: quality, Speed). Words follow Zipf's
law, half of the texts Chinese.
"""

import argparse
import random
import subprocess
import time
from itertools import accumulate
from threading import Event
from uuid import uuid4

import psutil

from scripts.bench.common import Service, percentile, report, service
from socket_gateway.client import MemoryClient

CHINESE = (  # noqa: SIM905 - words read better than a list of them
    "报销 发票 模板 会议 合同 项目 部署 服务器 日志 证书 备份 周报 客户 预算 审批 行程 酒店 机票 截图 附件 "
    "文件 提交 修改 确认 提醒 明天 上午 下午 系统 故障 重启 监控 数据 报告 设计 测试 上线 权限 账单 仓库"
).split()
ENGLISH = (  # noqa: SIM905 - the same
    "report invoice template meeting contract project deploy server log certificate backup weekly client "
    "budget approval trip hotel flight screenshot attachment file submit change confirm remind tomorrow "
    "morning system outage restart monitor data design test release access bill repository branch"
).split()
RARE_WORDS = 20_000
QUESTIONS = 300
EVENTS_A_PACKAGE = 20


def main() -> None:
    """Fill a service, let it come to rest, look at its memory, ask it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=1_000_000)
    options = parser.parse_args()
    with service() as running, MemoryClient(running.socket) as client:
        client.call("ops.stage.pause", {"stage": "observe"})
        began = time.perf_counter()
        _fill(client, options.texts)
        received = time.perf_counter() - began
        _wait_indexed(client, options.texts)
        indexed = time.perf_counter() - began
        Event().wait(10)
        memory = _memory(running)
        times = _ask(client)
    rows = [
        {"what": f"{name}, PSS", "figure": f"{size:.0f} MB"} for name, size in memory.items()
    ] + [
        {"what": "texts received", "figure": f"{options.texts / received:.0f} a second"},
        {"what": "texts filtered and indexed", "figure": f"{options.texts / indexed:.0f} a second"},
        {"what": "recall p50", "figure": f"{percentile(times, 0.5):.1f} ms"},
        {"what": "recall p99", "figure": f"{percentile(times, 0.99):.1f} ms"},
    ]
    report(f"{options.texts:,} texts", rows, notes=["goal: gateway + worker at most 400 MB"])


class _Words:
    """Texts of words whose frequency falls with their rank."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        rare = [f"w{n:05}" for n in range(RARE_WORDS)]
        self._english = ENGLISH + rare
        self._chinese = CHINESE + [f"{a}{b}" for a in CHINESE for b in CHINESE] + rare
        self._weights = {
            len(words): list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
            for words in (self._english, self._chinese)
        }

    def text(self, number: int, length: int) -> str:
        words, joint = (self._english, " ") if number % 2 else (self._chinese, "，")
        chosen = self._random.choices(words, cum_weights=self._weights[len(words)], k=length)
        return joint.join(chosen)


def _fill(client: MemoryClient, count: int) -> None:
    words = _Words(7)
    for start in range(0, count, 200):
        events = [
            {
                "v": 1, "id": uuid4().hex, "kind": "user.message",
                "at": 1_700_000_000_000 + n * 60_000,
                "source": {"role": "user", "stream": f"s{n // 100}"},
                "text": words.text(n, 10),
            }
            for n in range(start, start + 200)
        ]  # fmt: skip
        client.call("memory.events.ingest", {"events": events})


def _wait_indexed(client: MemoryClient, count: int) -> None:
    """Until the filter has seen everything and the follower has followed it."""
    pause = Event()
    for _ in range(7_200):
        packaged = sum(client.call("ops.status", {})["stages"].get("observe", {}).values())
        lag = client.call("health", {})["index_lag"]
        if lag == 0 and packaged >= count // EVENTS_A_PACKAGE:
            return
        pause.wait(0.5)
    raise TimeoutError(f"{count} texts were not indexed in an hour")


def _memory(running: Service) -> dict[str, float]:
    children = subprocess.run(
        ["pgrep", "-P", str(running.pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    found = {}
    for child in children:
        process = psutil.Process(int(child))
        name = "worker" if "huey" in " ".join(process.cmdline()) else "gateway"
        found[name] = process.memory_full_info().pss / 1e6
    return found | {"gateway + worker": sum(found.values())}


def _ask(client: MemoryClient) -> list[float]:
    words = _Words(11)
    times = []
    for n in range(QUESTIONS):
        params = {"request_id": uuid4().hex, "query": words.text(n, 6)}
        began = time.perf_counter()
        client.call("memory.continuity.recall", params)
        times.append((time.perf_counter() - began) * 1000)
    return times


if __name__ == "__main__":
    main()
