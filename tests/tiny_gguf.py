"""A model small enough to be made in every test run: random weights, real llama.cpp format. It talks nonsense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WIDTH, LAYERS, HEADS, HIDDEN = 64, 2, 4, 128
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
END_OF_TEXT, END_OF_MESSAGE = 256, 258
TOKENS = 256 + len(SPECIAL)
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def write_tiny_gguf(path: Path, seed: int = 0, context_length: int = 131_072) -> None:
    """Write a random chat model whose tokens are bytes, and which only ever says printable ASCII."""
    import gguf

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(context_length)
    _describe(writer)
    _add_vocabulary(writer)
    for name, values in _weights(seed).items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _describe(writer: Any) -> None:
    writer.add_name("tiny-random")
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(TOKENS)
    writer.add_chat_template(CHATML)


def _add_vocabulary(writer: Any) -> None:
    import gguf

    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([*_byte_tokens(), *SPECIAL])
    writer.add_token_types([gguf.TokenType.NORMAL] * 256 + [gguf.TokenType.CONTROL] * len(SPECIAL))
    # llama.cpp wants at least one; the result is no token, so it never applies.
    writer.add_token_merges(["Ġ t"])
    writer.add_bos_token_id(END_OF_TEXT)
    writer.add_eos_token_id(END_OF_MESSAGE)
    writer.add_pad_token_id(END_OF_TEXT)
    writer.add_add_bos_token(False)


def _byte_tokens() -> list[str]:
    """GPT-2's names of the 256 bytes: visible Latin-1 characters stand for themselves, the rest come after 255."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [byte for byte in range(256) if byte not in visible]
    return [chr(byte) if byte in visible else chr(256 + hidden.index(byte)) for byte in range(256)]


def _weights(seed: int) -> dict[str, Any]:
    import numpy as np

    random = np.random.default_rng(seed)

    def matrix(rows: int, columns: int, scale: float = 0.08) -> Any:
        return (random.standard_normal((rows, columns)) * scale).astype(np.float32)

    ones = np.ones(WIDTH, np.float32)
    # Channel 0 is the same for every token, so its output weights are a fixed bias for or against a token.
    embedding, output = matrix(TOKENS, WIDTH, 1.0), matrix(TOKENS, WIDTH, 0.3)
    embedding[:, 0] = 8.0
    output[:, 0] = -8.0
    output[0x20:0x7F, 0] = 0.0
    output[END_OF_MESSAGE, 0] = 0.2
    weights = {"token_embd.weight": embedding, "output_norm.weight": ones, "output.weight": output}
    for layer in range(LAYERS):
        block = {
            "attn_norm": ones,
            "ffn_norm": ones,
            **{f"attn_{part}": matrix(WIDTH, WIDTH) for part in ("q", "k", "v", "output")},
            "ffn_gate": matrix(HIDDEN, WIDTH),
            "ffn_up": matrix(HIDDEN, WIDTH),
            "ffn_down": matrix(WIDTH, HIDDEN),
        }
        weights |= {f"blk.{layer}.{name}.weight": values for name, values in block.items()}
    return weights
