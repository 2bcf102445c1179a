"""What people paste: every form is understood, what is wrong in it is explained, and nothing of it is lost."""

import json
import re
from collections.abc import Mapping

import pytest

from console.catalog.flags import told
from console.serving.explain import Understood, report, understand
from tests.serving.test_ascend_backends import npus


def read(text: str, release: str = "0.23.0.post1", chip: str = "910B4") -> Understood:
    return understand(text, release, chip)


def findings(found: Understood) -> dict[str, str]:
    return {one.token: f"{told(one.problem, 'en')} {told(one.instead, 'en')}" for one in found.findings}


def stated(found: Understood) -> Mapping[str, object]:
    return {name: value for name, value in found.fields.items() if name not in ("backend", "release", "chip")}


PLAIN = {"model_folder": "/m/x", "tensor_parallel": 2, "context": 8192}


@pytest.mark.parametrize(
    "text",
    [
        "vllm serve /m/x --tensor-parallel-size 2 --max-model-len 8192",
        "vllm serve /m/x -tp 2 --max-model-len=8192",
        "vllm serve /m/x --tensor_parallel_size 2 --max_model_len=8192",
        "vllm serve --model /m/x --tensor-parallel 2 --max-model 8192",
        "vllm serve --tensor-parallel-size 2 --max-model-len 8192 /m/x",
        "python -m vllm.entrypoints.openai.api_server --model /m/x -tp 2 --max-model-len 8192",
        "python3.11 -m vllm.entrypoints.openai.api_server --model=/m/x -tp=2 --max-model-len 8192",
        "$ sudo -E nohup vllm serve /m/x -tp 2 --max-model-len 8192 > log 2>&1 &",
        "root@host:~# vllm serve /m/x \\\n  -tp 2 \\\n  --max-model-len 8192",
        "(base) [user@host ~]$ vllm serve /m/x \\ \n  -tp 2 \\\n  --max-model-len 8192 # the longest",
        "C:\\Users\\a> vllm serve /m/x ^\r\n  -tp 2 ^\r\n  --max-model-len 8192",
        "vllm serve /m/x `\n -tp 2 `\n --max-model-len 8192",
        "```bash\nvllm serve /m/x -tp 2 --max-model-len 8192\n```",
        "运行 `vllm`：\n\n`vllm serve /m/x -tp 2 --max-model-len 8192`\n",
        "vllm serve /m/x --tensor-parallel-size：2 --max-model-len: 8192",
        "cd /tmp && source set_env.sh; vllm serve /m/x -tp 2 --max-model-len 8192 | tee log",
        "bash -c 'vllm serve /m/x -tp 2 --max-model-len 8192'",
        'sh -c "bash -lc \\"vllm serve /m/x -tp 2 --max-model-len 8192\\""',
        "MODEL=/m/x\nTP=2\nvllm serve $MODEL -tp ${TP} --max-model-len 8192",
        "docker exec -it npu vllm serve /m/x -tp 2 --max-model-len 8192",
        "# vllm serve /m/x -tp 2 --max-model-len 8192",
        "from vllm import LLM\nllm = LLM(model='/m/x', tensor_parallel_size=2, max_model_len=8192)",
        ">>> from vllm import LLM\n>>> llm = LLM('/m/x', tensor_parallel_size=2,\n...   max_model_len=8192)",
        "path = '/m/x'\nllm = LLM(model=path, tensor_parallel_size=2, max_model_len=8192)\nllm.generate('hi')",
        "先这样：llm = LLM(model=“/m/x”，tensor_parallel_size=2, max_model_len=8192) 然后等待。",
        "vllm serve /m/x -tp 2 --max-model-len 8k\u200b".replace("8k", "8192"),
    ],
)
def test_the_same_server_in_every_form(text: str) -> None:
    found = read(text)
    assert stated(found) == PLAIN, report(found, "en")
    assert found.findings == ()


def test_everything_of_a_long_command_becomes_a_setting() -> None:
    found = read(
        """
        export HCCL_BUFFSIZE=1024
        export ASCEND_RT_VISIBLE_DEVICES=4,5,6,7
        export DO_NOT_TRACK=1
        vllm serve /m/DeepSeek --served-model-name r1 --host 0.0.0.0 --port 8006 \\
          --data-parallel-size 2 --tensor-parallel-size 2 --enable-expert-parallel --quantization ascend \\
          --max-num-seqs 16 --max-model-len 16k --max-num-batched-tokens 4096 --gpu-memory-utilization 0.92 \\
          --no-enable-prefix-caching --enable-chunked-prefill --async-scheduling --trust-remote-code --seed 1024 \\
          --speculative-config '{"method": "mtp", "num_speculative_tokens": 3}' \\
          --compilation-config.cudagraph_mode FULL_DECODE_ONLY --compilation-config.cudagraph_capture_sizes+ 1,2 \\
          --additional-config '{"enable_mlapo": true}' --reasoning-parser deepseek_r1 \\
          --enable-auto-tool-choice --tool-call-parser deepseek_v3 --enable-lora --lora-modules a=/x b=/y \\
          --api-key sk-do-not-show
        """,
        chip="Ascend910",
    )
    assert found.findings == ()
    assert found.spec == npus(
        release="0.23.0.post1", chip="Ascend910", model_folder="/m/DeepSeek", served_name="r1", host="0.0.0.0",
        port=8006,
        data_parallel=2, tensor_parallel=2, expert_parallel=True, quantization="ascend", max_num_seqs=16, context=16000,
        max_batched_tokens=4096, utilization=0.92, prefix_caching=False, chunked_prefill=True, async_scheduling=True,
        trust_remote_code=True, speculative={"method": "mtp", "num_speculative_tokens": 3},
        compilation={"cudagraph_mode": "FULL_DECODE_ONLY", "cudagraph_capture_sizes": [1, 2]},
        additional_config={"enable_mlapo": True}, reasoning_parser="deepseek_r1", tool_parser="deepseek_v3",
        lora_modules=("a=/x", "b=/y"), api_key=True, extra_env={"HCCL_BUFFSIZE": "1024"},
        extra_args=("--seed", "1024"), device_ids=(4, 5, 6, 7),
    )  # fmt: skip
    assert "sk-do-not-show" not in json.dumps(report(found, "en"))


ARTICLE = """from vllm import LLM, AscendOptions
llm = LLM(
    model="deepseek-ai/deepseek-moe-7b",
    tensor_parallel_size=4,
    pipeline_parallel_size=2,
    ascend_options=AscendOptions(device_count=8, use_fp8=True, quantization="awq"),
)
"""


def test_a_program_of_an_article_gets_its_real_counterparts() -> None:
    found = read(ARTICLE)
    wrong = findings(found)
    assert "LLM itself" in wrong["AscendOptions"]
    assert "--tensor-parallel-size 8" in wrong["device_count=8"]
    assert "W8A8" in wrong["use_fp8=True"]
    assert "--quantization ascend" in wrong['quantization="awq"']
    assert "deepseek-moe-16b" in wrong['model="deepseek-ai/deepseek-moe-7b"']
    assert stated(found)["tensor_parallel"] == 4
    assert stated(found)["pipeline_parallel"] == 2
    assert "quantization" not in stated(found)


@pytest.mark.parametrize(
    ("words", "token", "said"),
    [
        ("--memory_efficient_attention", "--memory_efficient_attention", "No release.*--max-model-len"),
        ("--async_engine", "--async_engine", "asynchronous engine.*--async-scheduling"),
        ("--enable-reasoning --reasoning-parser deepseek_r1", "--enable-reasoning", "0.9.1.*--reasoning-parser alone"),
        ("--swap-space 16", "--swap-space", "dropped"),
        ("--task generate", "--task", "--runner"),
        ("--device npu", "--device", "Leave it out"),
        ("--disable-log-requests", "--disable-log-requests", "no longer logged"),
        ("--num-scheduler-steps 8", "--num-scheduler-steps", "nothing in its place"),
        ("--tensor-paralel-size 2", "--tensor-paralel-size", "--tensor-parallel-size may be meant"),
        ("--max-num 3", "--max-num", "several options.*--max-num-seqs"),
        ("--wholly-unknown", "--wholly-unknown", "no option"),
        ("--tensor-parallel-size two", "--tensor-parallel-size", "'two' is not one"),
        ("--gpu-memory-utilization 90%", "--gpu-memory-utilization", "not one"),
        ("--gpu-memory-utilization 90", "--gpu-memory-utilization", "does not take 90.*above 0, up to 1"),
        ("--dtype float61", "--dtype", "float16 may be meant"),
        ("--max-model-len", "--max-model-len", "none is there"),
        ("--enforce-eager true", "--enforce-eager", "model already|takes no value"),
        ("--quantization awq", "--quantization", "not supported in npu"),
        ("--quantization fp8", "--quantization", "no arithmetic"),
        ("--kv-cache-dtype fp8", "--kv-cache-dtype", "FP8"),
        ("--attention-backend FLASH_ATTN", "--attention-backend", "GPUs"),
        ("--reasoning-parser deepseek-r1", "--reasoning-parser", "deepseek_r1 may be meant"),
        ("--tool-call-parser hermes", "--tool-call-parser", "--enable-auto-tool-choice"),
        ("--enable-auto-tool-choice", "--enable-auto-tool-choice", "--tool-call-parser"),
        ('--enforce-eager --compilation-config \'{"cudagraph_mode": "FULL"}\'', "--enforce-eager", "no effect"),
        ("--compilation-config FULL", "--compilation-config", "no JSON"),
        (
            '--speculative-config {"method": "mtp", "num_speculative_tokens": 1}',
            "--speculative-config",
            "single quotes",
        ),
        ("--speculative-config \"{'method': 'mtp'}\"", "--speculative-config", "single quotes"),
        ("--speculative-config '{\"num_speculative_tokens\": 20}'", "--speculative-config", "Use 1 to 15"),
        ("--additional-config '{\"torchair_graph_config\": {}}'", "torchair_graph_config", "silence"),
        ("--additional-config '{\"enable_mlap\": true}'", "enable_mlap", "enable_mlapo may be meant"),
        ('--additional-config \'{"eplb_config": {"dynamic": 1}}\'', "eplb_config.dynamic", "dynamic_eplb|Leave"),
        ("--additional-config '{\"enable_flashcomm1\": true}'", "--additional-config", "only one"),
        ("--device-ids 0,1", "--device-ids", "ASCEND_RT_VISIBLE_DEVICES=0,1"),
        ("--disable-log-stats", "--disable-log-stats", "metrics"),
        ("/another/model", "/another/model", "model already"),
        ("--prefill-context-parallel-size 2 -dp 2", "--prefill-context-parallel-size", "does not go with"),
        ("--seed $SEED", "--seed", "not in this text"),
        ("--port <PORT>", "--port", "not in this text"),
        ("--tensor-parallel-size $1", "--tensor-parallel-size", "not in this text"),
        ("--additional-config '{\"fuse_muls_add\": true}'", "fuse_muls_add", "Put it into ascend_compilation_config"),
    ],
)
def test_what_is_wrong_in_a_command_is_explained(words: str, token: str, said: str) -> None:
    wrong = findings(read(f"vllm serve /m/x {words}"))
    assert token in wrong, wrong
    assert re.search(said, wrong[token], re.DOTALL), wrong[token]


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("VLLM_USE_V1=1", "does not read"),
        ("CUDA_VISIBLE_DEVICES=0,1", "ASCEND_RT_VISIBLE_DEVICES=0,1"),
        ("NCCL_DEBUG=INFO", "HCCL"),
        ("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "PYTORCH_NPU_ALLOC_CONF"),
        ("VLLM_ASCEND_ENABLE_CONTEXT_PARALLEL=1", "--prefill-context-parallel-size"),
        ("VLLM_ATTENTION_BACKEND=XFORMERS", "plugin chooses"),
        ("VLLM_LOGING_LEVEL=DEBUG", "VLLM_LOGGING_LEVEL may be meant"),
        ("VLLM_PLUGINS=other", "ascend is not among them"),
        ("ASCEND_LAUNCH_BLOCKING=1", "captured graphs"),
        ("USE_ARM_NEON=1", "Nothing reads"),
        ("HCCL_IF_IP=<node_ip>", "not in this text"),
        ("ASCEND_RT_VISIBLE_DEVICES=a", "numbers"),
    ],
)
def test_variables_without_effect_are_named(variable: str, said: str) -> None:
    for text in (f"{variable} vllm serve /m/x", f"export {variable}\nvllm serve /m/x"):
        wrong = findings(read(text))
        assert variable in wrong, wrong
        assert said in wrong[variable]


def test_a_variable_becomes_the_key_that_took_its_place() -> None:
    found = read("VLLM_ASCEND_ENABLE_MLAPO=0 vllm serve /m/x", "0.30.0rc2")
    assert "enable_mlapo in --additional-config" in findings(found)["VLLM_ASCEND_ENABLE_MLAPO=0"]
    assert stated(found)["additional_config"] == {"enable_mlapo": False}
    assert read("VLLM_ASCEND_ENABLE_MLAPO=0 vllm serve /m/x", "0.23.0").findings == ()


def test_each_release_is_judged_by_its_own_parser() -> None:
    text = "vllm serve /m/x --swap-space 4 --task generate"
    assert read(text, "0.11.0").findings == ()
    assert set(findings(read(text, "0.23.0"))) == {"--swap-space", "--task"}
    unknown = read("vllm serve /m/x --async-scheduling", "0.9.1")
    assert "0.11.0" in findings(unknown)["--async-scheduling"]
    assert "read as those of 0.18.0" in findings(read("vllm serve /m/x", "0.20.2rc1"))["0.20.2rc1"]


def test_original_fp8_weights_are_told_from_those_that_run() -> None:
    wrong = findings(read("vllm serve deepseek-ai/DeepSeek-R1 -tp 16"))
    assert "FP8" in wrong["deepseek-ai/DeepSeek-R1"]
    assert read("vllm serve vllm-ascend/DeepSeek-R1-W8A8 -tp 16 --quantization ascend").findings == ()
    assert read("vllm serve deepseek-ai/DeepSeek-R1", chip="950").findings == ()
    assert "Nearest" in findings(read("vllm serve deepseek-r1:7b"))["deepseek-r1:7b"]
    assert "first generation" in findings(read("vllm serve /m/x", chip="910B"))["910B"]


DOCKER = """docker run --rm --name vllm -itd --privileged \\
  --shm-size=16g --ipc=host -p 8006:8000 -e HCCL_BUFFSIZE=512 --env ASCEND_RT_VISIBLE_DEVICES=0,1 \\
  --device /dev/davinci2 --device=/dev/davinci3:/dev/davinci3 --device /dev/davinci_manager \\
  --device /dev/devmm_svm --device /dev/hisi_hdc -v /usr/local/dcmi:/usr/local/dcmi \\
  -v /usr/local/Ascend/driver/lib64/:/usr/local/Ascend/driver/lib64/ -v /data/models:/models:ro -v /a:/b \\
  quay.io/ascend/vllm-ascend:v0.18.0-a3-openeuler \\
  bash -c "source /x.sh && vllm serve /models/Qwen3-8B -tp 2"
"""


def test_a_docker_run_line_becomes_a_container_of_ours() -> None:
    found = understand(DOCKER, "", "Ascend910")
    assert found.findings == ()
    assert found.spec == npus(
        backend="ascend_docker", release="0.18.0", chip="Ascend910", model_folder="/data/models/Qwen3-8B",
        served_name="Qwen3-8B", port=8006, host="0.0.0.0", shm_gib=16, tensor_parallel=2, device_ids=(2, 3),
        extra_env={"HCCL_BUFFSIZE": "512"}, mounts=("/a:/b",),
        image="quay.io/ascend/vllm-ascend:v0.18.0-a3-openeuler",
    )  # fmt: skip
    wrong = findings(understand(DOCKER, "", "910B4"))
    assert "not for chips of the A2 family" in wrong["quay.io/ascend/vllm-ascend:v0.18.0-a3-openeuler"]


def test_a_container_for_nvidia_cards_is_told_from_one_for_npus() -> None:
    found = read("docker run --gpus all --runtime=nvidia -p 8000:8000 vllm/vllm-openai:latest --model /m/x -tp 2")
    wrong = findings(found)
    assert "--device /dev/davinci0" in wrong["--gpus all"]
    assert "vllm-ascend:v0.23.0.post1" in wrong["vllm/vllm-openai:latest"]
    assert stated(found)["tensor_parallel"] == 2
    assert stated(found)["model_folder"] == "/m/x"


def test_of_several_commands_the_server_is_taken_and_the_others_are_named() -> None:
    found = read("pip install vllm\nvllm serve /m/a\ncurl localhost:8000\nvllm serve /m/b --port 8001")
    assert found.spec.model_folder == "/m/a"
    why = {one.token: told(one.why, "en") for one in found.ignored}
    assert "installs" in why["pip"]
    assert "Playground" in why["curl"]
    assert "another server" in why["/m/b"]


def test_secrets_are_not_kept_and_not_shown() -> None:
    secret = "sk-1234567890abcdef"
    texts = [
        f"vllm serve /m/x --api-key {secret}", f"vllm serve /m/x --api-key={secret}",
        f"VLLM_API_KEY={secret} vllm serve /m/x",
        f"export HF_TOKEN={secret}\nvllm serve /m/x", f"docker run -e VLLM_API_KEY={secret} i vllm serve /m/x",
        f"vllm serve /m/x\ncurl -H 'Authorization: Bearer {secret}' localhost",
        f"import os\nos.environ['HF_TOKEN'] = '{secret}'\nLLM('/m/x')",
    ]  # fmt: skip
    for text in texts:
        told_all = json.dumps(report(read(text), "en"))
        assert secret not in told_all, text
    assert [read(text).spec.api_key for text in texts[:3]] == [True, True, True]


@pytest.mark.parametrize(
    "text", ["", "   \n", "hello", "你好，世界", "import os", "docker ps", "vllm bench serve", "{'a': 1}"]
)
def test_what_starts_no_server_says_so(text: str) -> None:
    found = read(text)
    assert found.kind == ""
    assert found.findings == ()
