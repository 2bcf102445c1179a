"""The pinned packages of an environment for NPUs: what a stack names itself, and in which groups they are installed."""

from pathlib import Path

from console.plans.resolve import Stack

CATALOG = Path(__file__).resolve().parent.parent / "catalog"
TORCH = ("torch", "torchvision", "torchaudio", "torch-npu")
TRITON = ("triton-ascend",)
VLLM = ("vllm",)
PLUGIN = ("vllm-ascend",)
CANN_PYTHON = ("attrs", "numpy", "decorator", "sympy", "cffi", "pyyaml", "pathlib2", "psutil", "protobuf", "scipy",
               "requests", "absl-py")  # fmt: skip
"""What the toolkit of CANN imports (CANN 9.1.0 installation guide)."""
BENCH = ("pandas", "matplotlib", "seaborn", "datasets", "scipy", "plotly")
"""What `vllm bench` needs beside vLLM (the extra `bench` in setup.py of vLLM)."""


def takes_triton(stack: Stack) -> bool:
    """Chips of the 310P family take neither triton nor triton-ascend."""
    return any(one.name.replace("_", "-").startswith("triton-ascend") for one in stack.packages)


def pins(stack: Stack, arch: str) -> str:
    """What the list of packages must contain, as lines `name==version`."""
    own = {"vllm": stack.release.vllm, "vllm-ascend": stack.release.vllm_ascend, "torch": stack.release.torch,
           "torch-npu": stack.variant.torch_npu}  # fmt: skip
    if stack.variant.triton_ascend and takes_triton(stack):
        own["triton-ascend"] = stack.variant.triton_ascend
    return "\n".join(f"{name}=={version}" for name, version in {**own, **stack.release.pins}.items())


def lock(stack: Stack, arch: str) -> str:
    """The whole list for this stack where the console brings one; "" where the wheels of a bundle are the list."""
    name = f"runtime-ascend-{stack.release.vllm_ascend}-cann{stack.variant.cann}-{arch}-py{stack.python}.lock.txt"
    file = CATALOG / name
    return file.read_text("utf-8") if file.exists() else ""
