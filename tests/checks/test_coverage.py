"""What a person who buys or installs such a host has to know is on the checklist, each with what to do."""

import pytest

from console.catalog.profiles import profile
from console.checks import CHECKS

ON_EVERY_HOST = {
    "a card on the bus that npu-smi does not show": "cards_in_npu_smi",
    "temperature": "card_temperature",
    "memory errors of the cards": "card_ecc",
    "memory errors of the host": "memory_correction",
    "power": "card_power",
    "health": "cards_healthy",
    "cards held by a process or container": "cards_free",
    "the first generation, which calls itself 910B": "chip_supported",
    "driver against CANN": "driver_and_cann",
    "headers against kernel": "headers_for_kernel",
    "C library against wheels": "c_library",
    "NUMA placement of the cards": "card_placement",
    "CPU governor": "cpu_governor",
    "transparent huge pages": "huge_pages_allowed",
    "reserved huge pages": "huge_pages_reserved",
    "jemalloc": "useful_tools",
    "limits of the user": "open_files",
    "shared memory": "shared_memory",
    "time": "time_follows",
    "proxies": "proxies_spare_own",
    "name servers": "name_servers",
    "room for CANN": "room_for_cann",
    "room for wheels and weights": "room_in_work_folder",
    "room to unpack in": "room_for_temporary_files",
}
ON_SEVERAL_NODES = {
    "firewall between nodes": "firewall_between_nodes",
    "links of the NPU ports": "npu_links",
    "addresses of the NPU ports": "npu_addresses",
    "TLS of the NPU ports": "npu_tls",
    "memory that RDMA pins": "locked_memory",
}


@pytest.mark.parametrize("name", ["ascend-reference", "ascend-two-cards", "ascend-multi-node"])
def test_every_host_with_npus_is_asked_for_it(name: str) -> None:
    missing = {what for what, check in ON_EVERY_HOST.items() if check not in profile(name).checks}
    assert missing == set()
    assert set(ON_EVERY_HOST.values()) <= set(CHECKS)


def test_a_node_of_several_is_asked_for_more() -> None:
    assert set(ON_SEVERAL_NODES.values()) <= set(profile("ascend-multi-node").checks)


@pytest.mark.parametrize("name", ["ascend-reference", "ascend-two-cards", "ascend-multi-node"])
def test_jemalloc_is_among_the_tools_that_are_looked_for(name: str) -> None:
    assert "jemalloc" in profile(name).words("tools")
