"""What the extension adds: embedders, rerankers, sparse encoders, late interaction, contexts."""

from karat.extension import Extension

EXTENSION = Extension(
    "models",
    "Encoders, rerankers, late interaction and contexts.",
    adds={
        "embedder": {
            "cohere": "karat.extensions.models.remote_embedder:cohere",
            "granite": "karat.extensions.models.packaged:granite",
            "jina": "karat.extensions.models.remote_embedder:jina",
            "minilm": "karat.extensions.models.packaged:minilm",
            "onnx": "karat.extensions.models.onnx:onnx_folder",
            "openai": "karat.extensions.models.remote_embedder:openai",
            "st": "karat.extensions.models.transformer:transformer",
            "static": "karat.extensions.models.static:static",
            "tei": "karat.extensions.models.remote_embedder:tei",
            "vllm": "karat.extensions.models.remote_embedder:vllm",
            "voyage": "karat.extensions.models.remote_embedder:voyage",
        },
        "packaged_model": {
            "granite": "karat.extensions.models.installed:GRANITE",
            "minilm": "karat.extensions.models.installed:MINILM",
            "static": "karat.extensions.models.installed:STATIC",
        },
        "tokenizer": {
            "granite": "karat.extensions.models.packaged:granite_tokenizer",
            "minilm": "karat.extensions.models.packaged:minilm_tokenizer",
            "file": "karat.extensions.models.packaged:tokenizer_file",
        },
        "sparse_encoder": {"splade": "karat.extensions.models.sparse:splade"},
        "reranker": {
            "cohere": "karat.extensions.models.remote_reranker:cohere",
            "colbert": "karat.extensions.models.rerankers:colbert",
            "cross": "karat.extensions.models.rerankers:cross",
            "jina": "karat.extensions.models.remote_reranker:jina",
            "maxsim": "karat.extensions.models.rerankers:maxsim",
            "onnx-cross": "karat.extensions.models.rerankers:onnx_cross",
            "tei": "karat.extensions.models.remote_reranker:tei",
            "vllm": "karat.extensions.models.remote_reranker:vllm",
            "voyage": "karat.extensions.models.remote_reranker:voyage",
        },
        "provider": {
            "openai": "karat.extensions.models.endpoint:OPENAI",
            "jina": "karat.extensions.models.endpoint:JINA",
            "cohere": "karat.extensions.models.endpoint:COHERE",
            "voyage": "karat.extensions.models.endpoint:VOYAGE",
            "vllm": "karat.extensions.models.endpoint:VLLM",
            "tei": "karat.extensions.models.endpoint:TEI",
        },
        "hardware": {
            "hub models": "karat.extensions.models.device:hub_model_device",
            "onnx folders": "karat.extensions.models.onnx:onnx_device",
        },
        "engine": {"colbert": "karat.extensions.models.late:ENGINE"},
        "context": {"chat": "karat.extensions.models.context:chat"},
    },
    aliases={
        "embedder": {"sentence-transformers": "st", "http": "openai"},
        "packaged_model": {
            "sentence-transformers/all-minilm-l6-v2": "minilm",
            "all-minilm-l6-v2": "minilm",
            "ibm-granite/granite-embedding-30m-english": "granite",
            "granite-embedding-30m-english": "granite",
        },
        "reranker": {"late-interaction": "maxsim", "cross-encoder": "cross"},
    },
    needs=("llm",),
)
